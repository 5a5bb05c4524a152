//! The lists and records inside values, which are dropped in a loop.
//!
//! A value may be as deep as its reader allowed, so its parts are not dropped by recursion. The loop is here
//! and not in `Data`, so that parts can be moved out of a value.

use super::Data;
use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};

/// The items of a list.
#[derive(Clone, Default, PartialEq)]
pub struct Items(Vec<Data>);

/// The fields of a record in order, each with its name; no name is there twice.
#[derive(Clone, Default, PartialEq)]
pub struct Fields(Vec<(String, Data)>);

fn is_deep(value: &Data) -> bool {
    match value {
        Data::List(items) => !items.is_empty(),
        Data::Record(fields) => !fields.is_empty(),
        _ => false,
    }
}

/// Moves the lists and records in a value to `open`, and drops the rest.
fn empty(value: &mut Data, open: &mut Vec<Data>) {
    match value {
        Data::List(items) => open.extend(mem::take(&mut items.0).into_iter().filter(is_deep)),
        Data::Record(fields) => {
            let values = mem::take(&mut fields.0).into_iter().map(|(_, value)| value);
            open.extend(values.filter(is_deep));
        }
        _ => {}
    }
}

fn drop_all(mut open: Vec<Data>) {
    while let Some(mut value) = open.pop() {
        empty(&mut value, &mut open);
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        if self.0.iter().any(is_deep) {
            drop_all(mem::take(&mut self.0).into_iter().filter(is_deep).collect());
        }
    }
}

impl Drop for Fields {
    fn drop(&mut self) {
        if self.0.iter().any(|(_, value)| is_deep(value)) {
            let values = mem::take(&mut self.0).into_iter().map(|(_, value)| value);
            drop_all(values.filter(is_deep).collect());
        }
    }
}

/// What both containers are: a vector with another drop.
macro_rules! vector {
    ($container:ident, $item:ty) => {
        impl $container {
            /// An empty one.
            pub const fn new() -> $container {
                $container(Vec::new())
            }
        }

        impl Deref for $container {
            type Target = Vec<$item>;

            fn deref(&self) -> &Vec<$item> {
                &self.0
            }
        }

        impl DerefMut for $container {
            fn deref_mut(&mut self) -> &mut Vec<$item> {
                &mut self.0
            }
        }

        impl fmt::Debug for $container {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<Vec<$item>> for $container {
            fn from(items: Vec<$item>) -> $container {
                $container(items)
            }
        }

        impl From<$container> for Vec<$item> {
            fn from(mut container: $container) -> Vec<$item> {
                mem::take(&mut container.0)
            }
        }

        impl FromIterator<$item> for $container {
            fn from_iter<I: IntoIterator<Item = $item>>(items: I) -> $container {
                $container(items.into_iter().collect())
            }
        }

        impl IntoIterator for $container {
            type Item = $item;
            type IntoIter = std::vec::IntoIter<$item>;

            fn into_iter(mut self) -> Self::IntoIter {
                mem::take(&mut self.0).into_iter()
            }
        }

        impl<'c> IntoIterator for &'c $container {
            type Item = &'c $item;
            type IntoIter = std::slice::Iter<'c, $item>;

            fn into_iter(self) -> Self::IntoIter {
                self.0.iter()
            }
        }

        impl<'c> IntoIterator for &'c mut $container {
            type Item = &'c mut $item;
            type IntoIter = std::slice::IterMut<'c, $item>;

            fn into_iter(self) -> Self::IntoIter {
                self.0.iter_mut()
            }
        }
    };
}

vector!(Items, Data);
vector!(Fields, (String, Data));
