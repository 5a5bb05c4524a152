//! Reads JSON Schemas into shapes.
//!
//! A schema is read into a [`MergedSchema`]: everything that it says about one value, with its `$ref`,
//! `allOf`, `anyOf` and `oneOf` merged. The schemas of items and fields become nodes. Each subschema that is
//! referred to becomes one node, so that circular references end. Work and size are limited; what exceeds the
//! limits counts as unknown.

mod merged;

use self::merged::{MergedField, MergedSchema, Mode, Others, Source, tighter};
use super::Format;
use super::shape::{
    ANYTHING, Constraints, Indexed, ListedField, NodeId, RangeEnd, RecordFields, Shapes, Variants, order,
};
use crate::text::shortened;
use core::cmp::Ordering;
use hashbrown::{HashMap, HashSet};
use ilo_spec::program::Number;
use ilo_spec::pure::Kinds;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// The most schemas that may refer to one another by `$ref`, `allOf`, `anyOf` and `oneOf` for one value.
const DEEPEST: usize = 24;
/// The most schemas that may apply to one value inside merged records.
const WIDEST: usize = 64;
/// The most nodes of a tool, and the most constants of a list.
const LARGEST: usize = 4096;
/// The most keywords, names and constants that are read for a tool.
const WORK: usize = 1 << 17;

/// The shapes of a tool's arguments and of its answer.
pub(super) fn shapes(tool: &str, input: Option<&Value>, output: Option<&Value>) -> Shapes {
    let (mut nodes, mut work, mut misused) = (vec![Constraints::ANY], WORK, None);
    let mut read = |whole, part, listed| {
        let (known, open) = (HashMap::new(), VecDeque::new());
        let (nodes, work, misused) = (&mut nodes, &mut work, &mut misused);
        Reader { root: whole, nodes, work, misused, known, open }.read(part, listed)
    };
    let input = input.map_or(ANYTHING, |schema| read(schema, schema, true));
    let output = output.map_or(ANYTHING, |schema| read(schema, unpacked(schema).unwrap_or(schema), false));
    Shapes { tool: tool.to_owned(), declared: false, nodes, input, output, misused }
}

/// The part of an answer that a program gets, if it is not the whole answer. Some servers wrap a plain result
/// in a marked record with one field; a program gets the plain result.
fn unpacked(schema: &Value) -> Option<&Value> {
    const UNKNOWN: &Value = &Value::Null;
    match schema.get("x-fastmcp-wrap-result") {
        Some(Value::Bool(true)) => Some(schema.pointer("/properties/result").unwrap_or(UNKNOWN)),
        _ => None,
    }
}

/// The keywords of one schema, as far as they are read.
#[derive(Default)]
struct Keywords<'s> {
    reference: Option<&'s Value>,
    all_of: Option<&'s Value>,
    any_of: Option<&'s Value>,
    one_of: Option<&'s Value>,
    ty: Option<&'s Value>,
    nullable: Option<&'s Value>,
    constants: Option<&'s Value>,
    constant: Option<&'s Value>,
    format: Option<&'s Value>,
    minimum: Option<&'s Value>,
    exclusive_minimum: Option<&'s Value>,
    maximum: Option<&'s Value>,
    exclusive_maximum: Option<&'s Value>,
    items: Option<&'s Value>,
    prefix_items: Option<&'s Value>,
    properties: Option<&'s Value>,
    required: Option<&'s Value>,
    /// `additionalProperties`.
    others: Option<&'s Value>,
    /// `unevaluatedProperties`.
    unevaluated: Option<&'s Value>,
    /// There is a keyword by which a record may have fields that are listed elsewhere.
    elsewhere: bool,
    /// The first keyword with a value that it cannot have, that value, and what it can have.
    misused: Option<(&'s str, &'s Value, &'static str)>,
}

impl<'s> Keywords<'s> {
    /// One pass: most schemas have few of the keywords, and to look for each takes longer.
    fn of(schema: &'s Map<String, Value>) -> Keywords<'s> {
        let mut found = Keywords::default();
        for (keyword, value) in schema {
            let place = match keyword.as_str() {
                "$ref" => &mut found.reference,
                "allOf" => &mut found.all_of,
                "anyOf" => &mut found.any_of,
                "oneOf" => &mut found.one_of,
                "type" => &mut found.ty,
                "nullable" => &mut found.nullable,
                "enum" => &mut found.constants,
                "const" => &mut found.constant,
                "format" => &mut found.format,
                "minimum" => &mut found.minimum,
                "exclusiveMinimum" => &mut found.exclusive_minimum,
                "maximum" => &mut found.maximum,
                "exclusiveMaximum" => &mut found.exclusive_maximum,
                "items" => &mut found.items,
                "prefixItems" => &mut found.prefix_items,
                "properties" => &mut found.properties,
                "required" => &mut found.required,
                "additionalProperties" => &mut found.others,
                "unevaluatedProperties" => &mut found.unevaluated,
                "if" | "patternProperties" | "dependentSchemas" | "dependencies" | "$dynamicRef"
                | "$recursiveRef" | "propertyNames" => {
                    found.elsewhere = true;
                    continue;
                }
                _ => continue,
            };
            *place = Some(value);
            let wanted = if found.misused.is_none() { wanted(keyword, value) } else { None };
            found.misused = found.misused.or(wanted.map(|wanted| (keyword.as_str(), value, wanted)));
        }
        found
    }
}

/// What a keyword can have, if it cannot have this value.
fn wanted(keyword: &str, value: &Value) -> Option<&'static str> {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    let list = value.as_array();
    let (fits, wanted) = match keyword {
        "$ref" | "format" => (value.is_string(), "a text"),
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
            (list.is_some_and(|all| !all.is_empty() && all.iter().all(is_schema)), "a list of schemas")
        }
        "type" => (kinds(value, &mut false).is_some(), "a type or a list of types"),
        "nullable" => (value.is_boolean(), "a bool"),
        "enum" => (list.is_some(), "a list of values"),
        "minimum" | "maximum" => (value.is_number(), "a number"),
        // A bool in older schemas.
        "exclusiveMinimum" | "exclusiveMaximum" => (value.is_number() || value.is_boolean(), "a number"),
        "items" => (is_schema(value) || list.is_some(), "a schema"),
        "properties" => {
            (value.as_object().is_some_and(|all| all.values().all(is_schema)), "a record of schemas")
        }
        "required" => (list.is_some_and(|all| all.iter().all(Value::is_string)), "a list of names"),
        "additionalProperties" | "unevaluatedProperties" => (is_schema(value), "a schema"),
        _ => return None,
    };
    (!fits).then_some(wanted)
}

/// The reader of one schema, whose references lead to its own parts.
struct Reader<'s, 'n> {
    root: &'s Value,
    nodes: &'n mut Vec<Constraints>,
    work: &'n mut usize,
    misused: &'n mut Option<String>,
    known: HashMap<Source<'s>, NodeId>,
    open: VecDeque<(NodeId, Source<'s>)>,
}

impl<'s> Reader<'s, '_> {
    /// Reads a part of the schema and everything that it refers to. If `listed` is set, a schema of arguments
    /// that lists none allows none.
    fn read(&mut self, schema: &'s Value, listed: bool) -> NodeId {
        let id = self.node(Source::One(schema));
        let mut first = true;
        while let Some((id, source)) = self.open.pop_front() {
            let mut merged = self.merged(&source, DEEPEST);
            if core::mem::take(&mut first) && listed {
                let lists = schema.get("properties").is_some_and(Value::is_object);
                let none = lists && merged.others == Others::Unsaid;
                merged.others = if none { Others::Unlisted } else { merged.others };
            }
            let node = self.finished(merged);
            if let Some(place) = self.nodes.get_mut(id as usize) {
                *place = node;
            }
        }
        id
    }

    /// The node of a subschema, which is read later.
    fn node(&mut self, source: Source<'s>) -> NodeId {
        match source {
            Source::One(Value::Bool(_) | Value::Null) => return ANYTHING,
            Source::One(Value::Object(keywords)) if keywords.is_empty() => return ANYTHING,
            _ => {}
        }
        if let Some(&id) = self.known.get(&source) {
            return id;
        }
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(ANYTHING);
        if self.nodes.len() >= LARGEST || *self.work == 0 {
            return ANYTHING;
        }
        self.nodes.push(Constraints::ANY);
        self.known.insert(source.clone(), id);
        self.open.push_back((id, source));
        id
    }

    fn finished(&mut self, merged: MergedSchema<'s>) -> Constraints {
        // If no value fits, something else was meant by the schema.
        if !merged.is_possible() {
            return Constraints::ANY;
        }
        let is_closed = matches!(merged.others, Others::Refused | Others::Unlisted);
        let listed = merged.kinds.meets(Kinds::RECORD)
            && (is_closed || !merged.fields.is_empty() || merged.rest.is_some());
        let record = listed.then(|| {
            let fields = self.listed(merged.fields);
            let rest = if is_closed { None } else { Some(self.below(merged.rest)) };
            record(fields, rest, merged.others == Others::Refused)
        });
        let arms = merged.arms.filter(|_| record.is_some()).map(|(name, arms)| Variants {
            name: name.into(),
            arms: arms.into_iter().map(|(text, source)| (text.into(), self.node(source))).collect(),
        });
        let texts = merged.texts.filter(|_| merged.kinds.meets(Kinds::TEXT));
        let texts = texts.map(|all| all.into_iter().map(Box::from).collect());
        let numbers = merged.numbers.filter(|_| merged.kinds.meets(Kinds::NUMBER));
        Constraints {
            kinds: merged.kinds,
            texts: texts.map(|all| Indexed::new(all, MANY, Ord::cmp)),
            numbers: numbers.map(|all| Indexed::new(all.into(), MANY, |&a, &b| order(a, b))),
            format: merged.format,
            boolean: merged.boolean,
            least: merged.least,
            most: merged.most,
            whole: merged.whole,
            items: merged.items.map_or(ANYTHING, |items| self.node(items)),
            record,
            arms,
        }
    }

    fn below(&mut self, source: Option<Source<'s>>) -> NodeId {
        source.map_or(ANYTHING, |source| self.node(source))
    }

    fn listed(&mut self, fields: Vec<MergedField<'s>>) -> Box<[ListedField]> {
        let listed = |MergedField { name, required, optional, source }: MergedField<'s>| ListedField {
            name: name.into(),
            required,
            optional,
            node: self.below(source),
        };
        fields.into_iter().map(listed).collect()
    }

    fn spend(&mut self, work: usize) -> Option<()> {
        *self.work = self.work.checked_sub(work).or_else(|| {
            *self.work = 0;
            None
        })?;
        Some(())
    }

    fn merged(&mut self, source: &Source<'s>, depth: usize) -> MergedSchema<'s> {
        let unknown = || MergedSchema::any(Others::Allowed);
        let Some(below) = depth.checked_sub(1) else { return unknown() };
        match source {
            Source::One(schema) => self.schema(schema, below).unwrap_or_else(unknown),
            Source::Several(several) => match several.mode {
                Mode::Any => self.one_of(several.parts.iter().cloned(), below).unwrap_or_else(unknown),
                Mode::All => {
                    let all = MergedSchema::any(Others::Unsaid);
                    several.parts.iter().fold(all, |all, one| all.and(self.merged(one, below)))
                }
            },
        }
    }

    fn one_of(
        &mut self,
        several: impl Iterator<Item = Source<'s>>,
        depth: usize,
    ) -> Option<MergedSchema<'s>> {
        let mut all: Option<MergedSchema<'s>> = None;
        for one in several {
            let merged = self.merged(&one, depth);
            self.spend(merged.size() + all.as_ref().map_or(0, MergedSchema::size))?;
            all = Some(match all {
                Some(all) => all.or(merged),
                None => merged,
            });
        }
        all
    }

    /// What a schema says; `None` if that exceeds the limits.
    fn schema(&mut self, schema: &'s Value, depth: usize) -> Option<MergedSchema<'s>> {
        let Value::Object(map) = schema else { return Some(MergedSchema::any(Others::Unsaid)) };
        self.spend(1 + map.len())?;
        let keywords = Keywords::of(map);
        let mut merged = self.keywords(&keywords)?;
        if let Some(target) = keywords.reference {
            let target = target.as_str().and_then(|target| self.root.pointer(target.strip_prefix('#')?));
            let referred = target.map(|target| self.merged(&Source::One(target), depth));
            merged = merged.and(referred.unwrap_or_else(|| MergedSchema::any(Others::Allowed)));
        }
        for part in keywords.all_of.and_then(Value::as_array).into_iter().flatten() {
            let part = self.merged(&Source::One(part), depth);
            self.spend(merged.size())?;
            merged = merged.and(part);
        }
        for several in [keywords.any_of, keywords.one_of].into_iter().flatten() {
            let several = several.as_array().map_or(&[][..], Vec::as_slice);
            let one = self.one_of(several.iter().map(Source::One), depth);
            let mut one = one.unwrap_or_else(|| MergedSchema::any(Others::Allowed));
            one.arms = one.arms.or_else(|| self.arms(several));
            merged = merged.and(one);
        }
        if let (Some((keyword, value, wanted)), None) = (keywords.misused, &self.misused) {
            let value = shortened(&value.to_string(), 80);
            *self.misused = Some(format!("`{keyword}` is `{value}`, and not {wanted}"));
        }
        let is_known = matches!(merged.others, Others::Unlisted | Others::Unsaid) && !keywords.elsewhere;
        merged.others = match keywords.unevaluated {
            Some(Value::Bool(false)) if is_known => Others::Refused,
            Some(Value::Bool(false)) | None if !keywords.elsewhere => merged.others,
            _ => Others::Allowed,
        };
        Some(merged)
    }

    /// The arms of a union that a constant text tells apart: each lists a field that it requires, with one or
    /// several texts that no other arm has.
    fn arms(&mut self, several: &'s [Value]) -> Option<merged::ArmSources<'s>> {
        let (first, _) = several.split_first().filter(|(_, rest)| !rest.is_empty() && rest.len() < WIDEST)?;
        let names = self.target(first)?.get("properties")?.as_object()?.keys();
        self.spend(names.len() * several.len())?;
        names.into_iter().find_map(|name| {
            let (mut arms, mut known) = (Vec::with_capacity(several.len()), HashSet::new());
            for arm in several {
                let schema = self.target(arm)?;
                let required = schema.get("required")?.as_array()?;
                required.iter().find(|one| one.as_str() == Some(name))?;
                let field = self.target(schema.get("properties")?.get(name)?)?;
                let texts = match field.get("const") {
                    Some(text) => core::slice::from_ref(text),
                    None => field.get("enum")?.as_array()?.as_slice(),
                };
                self.spend(texts.len())?;
                texts.first()?;
                for text in texts {
                    let text = text.as_str().filter(|text| known.insert(*text))?;
                    arms.push((text, Source::One(arm)));
                }
            }
            Some((name.as_str(), arms))
        })
    }

    /// A schema, or the one to which it only refers.
    fn target(&self, schema: &'s Value) -> Option<&'s Value> {
        match schema.get("$ref") {
            Some(target) => self.root.pointer(target.as_str()?.strip_prefix('#')?),
            None => Some(schema),
        }
    }

    /// What the keywords of a schema say, without its references.
    fn keywords(&mut self, keywords: &Keywords<'s>) -> Option<MergedSchema<'s>> {
        let mut merged = MergedSchema::any(Others::Unsaid);
        let constants = keywords.constants.and_then(Value::as_array);
        let constants = constants.map(Vec::as_slice).filter(|all| !all.is_empty());
        let constants = constants.or_else(|| keywords.constant.map(core::slice::from_ref));
        if let Some(constants) = constants {
            self.spend(constants.len())?;
            merged.constants(constants);
        }
        merged.format = keywords.format.and_then(Value::as_str).and_then(Format::of);
        self.fields(keywords, &mut merged)?;
        if let Some(kinds) = keywords.ty.and_then(|name| kinds(name, &mut merged.whole)) {
            let nullable = keywords.nullable == Some(&Value::Bool(true));
            merged.kinds = merged.kinds.and(if nullable { kinds.or(Kinds::NIL) } else { kinds });
        } else if merged.kinds == Kinds::ANY && keywords.properties.is_some() && !merged.fields.is_empty() {
            (merged.kinds, merged.guessed) = (Kinds::RECORD, true);
        }
        merged.least = bound(keywords.minimum, keywords.exclusive_minimum, Ordering::Greater);
        merged.most = bound(keywords.maximum, keywords.exclusive_maximum, Ordering::Less);
        let items = keywords.items.filter(|items| items.is_object());
        merged.items = items.filter(|_| keywords.prefix_items.is_none()).map(Source::One);
        Some(merged)
    }

    fn fields(&mut self, keywords: &Keywords<'s>, merged: &mut MergedSchema<'s>) -> Option<()> {
        let listed = keywords.properties.and_then(Value::as_object);
        let required = keywords.required.and_then(Value::as_array);
        self.spend(listed.map_or(0, Map::len) + required.map_or(0, Vec::len))?;
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let mut needed: HashSet<&str> = required.clone().collect();
        let listed = listed.into_iter().flatten();
        let says = !needed.is_empty();
        merged.fields.extend(listed.map(|(name, schema)| {
            let required = needed.remove(name.as_str());
            MergedField { name, required, optional: says && !required, source: Some(Source::One(schema)) }
        }));
        let unlisted = required.filter(|&name| needed.remove(name));
        let any = keywords.properties.is_some() && !merged.fields.is_empty();
        merged.fields.extend(unlisted.map(|name| MergedField {
            name,
            required: true,
            optional: false,
            source: None,
        }));
        (merged.others, merged.rest) = match keywords.others {
            Some(Value::Bool(false)) => (Others::Refused, None),
            Some(rest @ Value::Object(_)) => (Others::Allowed, Some(Source::One(rest))),
            Some(_) => (Others::Allowed, None),
            None if any => (Others::Unlisted, None),
            None => (Others::Unsaid, None),
        };
        Some(())
    }
}

impl<'s> MergedSchema<'s> {
    /// Allows only these values.
    fn constants(&mut self, constants: &'s [Value]) {
        let of = |kind: Kinds, listed: bool| if listed { kind } else { Kinds::NONE };
        let any = |is: fn(&Value) -> bool| constants.iter().any(is);
        self.kinds = of(Kinds::NIL, any(Value::is_null))
            .or(of(Kinds::BOOL, any(Value::is_boolean)))
            .or(of(Kinds::NUMBER, any(Value::is_number)))
            .or(of(Kinds::TEXT, any(Value::is_string)))
            .or(of(Kinds::LIST, any(Value::is_array)))
            .or(of(Kinds::RECORD, any(Value::is_object)));
        if constants.len() > LARGEST {
            return;
        }
        self.texts = Some(constants.iter().filter_map(Value::as_str).collect());
        self.numbers = Some(constants.iter().filter_map(number).collect());
        let has = |truth: bool| constants.contains(&Value::Bool(truth));
        self.boolean = if has(true) == has(false) { None } else { Some(has(true)) };
    }
}

/// The kinds that `type` names; `None` if JSON Schema has none of them. Gemini writes them in capitals.
fn kinds(name: &Value, whole: &mut bool) -> Option<Kinds> {
    let one = |name: &Value| {
        Some(match name.as_str()? {
            "string" | "STRING" => Kinds::TEXT,
            "number" | "integer" | "NUMBER" | "INTEGER" => Kinds::NUMBER,
            "boolean" | "BOOLEAN" => Kinds::BOOL,
            "null" | "NULL" => Kinds::NIL,
            "object" | "OBJECT" => Kinds::RECORD,
            "array" | "ARRAY" => Kinds::LIST,
            // Of an early draft.
            "any" => Kinds::ANY,
            _ => return None,
        })
    };
    let names = name.as_array().map_or(core::slice::from_ref(name), Vec::as_slice);
    let has = |one, capital| names.iter().any(|name| name == one || name == capital);
    *whole = has("integer", "INTEGER") && !has("number", "NUMBER");
    let all = names.iter().try_fold(Kinds::NONE, |all, name| Some(all.or(one(name)?)))?;
    Some(all).filter(|all| !all.is_empty())
}

fn number(value: &Value) -> Option<Number> {
    let Value::Number(number) = value else { return None };
    let double = || number.as_f64().filter(|double| double.is_finite()).map(Number::Double);
    number.as_i64().map(Number::Int).or_else(double)
}

/// A bound of a range. Older schemas mark it as exclusive with a separate bool.
fn bound(inner: Option<&Value>, beside: Option<&Value>, side: Ordering) -> Option<RangeEnd> {
    let included = beside != Some(&Value::Bool(true));
    let inner = inner.and_then(number).map(|number| RangeEnd { number, included });
    let outer = beside.and_then(number).map(|number| RangeEnd { number, included: false });
    tighter(inner, outer, side)
}

/// The number of constants from which on a sorted index is kept.
const MANY: usize = 16;

/// A record with a sorted index of its fields.
pub(super) fn record(fields: Box<[ListedField]>, rest: Option<NodeId>, refused: bool) -> RecordFields {
    let required = (0..).zip(&fields).filter(|(_, field)| field.required).map(|(place, _)| place).collect();
    let fields = Indexed::new(fields, 0, |a, b| a.name.cmp(&b.name));
    RecordFields { fields, required, rest, refused }
}
