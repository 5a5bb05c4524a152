//! The bearer token for a server after a sign-in. Without the feature `login` there is none.

#[cfg(feature = "login")]
pub(super) use crate::tokens::Access;

#[cfg(not(feature = "login"))]
pub(super) use absent::Access;

#[cfg(not(feature = "login"))]
mod absent {
    use crate::tool::secrets::Secrets;

    #[derive(Debug)]
    pub(crate) enum Access {}

    #[allow(clippy::unused_async, reason = "with the feature they wait")]
    impl Access {
        pub(crate) fn of(_url: &str, _secrets: &Secrets) -> Option<Access> {
            None
        }

        pub(crate) async fn token(&self) -> Result<Option<String>, String> {
            match *self {}
        }

        pub(crate) async fn renewed(&self, _old: Option<&str>) -> Result<Option<String>, String> {
            match *self {}
        }
    }
}
