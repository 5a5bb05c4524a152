//! What a first try gets wrong: an operand, id, count or word that is not there, and how to mend it.
//!
//! Everything here runs only after something is wrong. Where the mend leaves no doubt, it is given as a fix and reading
//! goes on as if it had been made.

use super::expr::digits;
use super::parser::{Diagnosed, Parser, Stop};
use crate::ast::{Expr, ExprKind, Name};
use crate::diagnostic::Diagnostic;
use crate::span::Span;
use crate::syntax::lexer::{Kind, NO_VALUE, Token};
use crate::syntax::registry;
use crate::text::nearest;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::node::{Place, TABLE, Word};

/// Words of other languages that stand for one instruction.
const ALIASES: &[(&str, Word)] = &[
    ("RETURN", Word::Ret),
    ("RETURNOK", Word::RetOk),
    ("RETURNERR", Word::RetErr),
    ("RETERROR", Word::RetErr),
    ("THROW", Word::Fail),
    ("RAISE", Word::Fail),
    ("ERROR", Word::Err),
    ("FOREACH", Word::For),
    ("GE", Word::Gte),
    ("LE", Word::Lte),
    ("NE", Word::Neq),
    ("EQUALS", Word::Eq),
    ("PLUS", Word::Add),
    ("MINUS", Word::Sub),
    ("MULTIPLY", Word::Mul),
    ("DIVIDE", Word::Div),
    ("LENGTH", Word::Len),
    ("OBJECT", Word::Obj),
    ("RECORD", Word::Obj),
    ("LITERAL", Word::Lit),
    ("PUSH", Word::Append),
    ("INDEX", Word::At),
    ("ROLLBACK", Word::Undo),
];

/// Operators of other languages.
const OPERATORS: &[(&str, Word)] = &[
    ("+", Word::Add),
    ("-", Word::Sub),
    ("*", Word::Mul),
    ("/", Word::Div),
    ("%", Word::Mod),
    ("==", Word::Eq),
    ("===", Word::Eq),
    ("=", Word::Eq),
    ("!=", Word::Neq),
    ("<>", Word::Neq),
    (">", Word::Gt),
    (">=", Word::Gte),
    ("<", Word::Lt),
    ("<=", Word::Lte),
    ("&&", Word::And),
    ("||", Word::Or),
    ("!", Word::Not),
];

/// The instruction that an operator of other languages stands for.
pub(crate) fn infix(text: &str) -> Option<Word> {
    OPERATORS.iter().find(|&&(operator, _)| operator == text).map(|&(_, word)| word)
}

/// The diagnostic of a count that cannot be.
pub(crate) fn count_range(span: Span, found: &str, most: usize) -> Diagnostic {
    let shown = shorten(found);
    Diagnostic::new(Code::CountRange, span, format!("`{shown}` is no possible count"))
        .expected(format!("a count from 0 to {most}, the number of words in this file"), format!("`{shown}`"))
        .help("write how many really follow")
}

/// The form that an instruction takes, for help.
fn form(word: Word) -> &'static str {
    match word {
        Word::Call => "`CALL <tool> <count> <field> <value> …`, such as `CALL 0 1 0 REF 0`",
        Word::Obj => "`OBJ <count> <field> <value> …`",
        Word::List => "`LIST <count> <value> …`",
        Word::MatchMap => "`MATCH_MAP <value> <count> <key> <value> …`",
        Word::If => "`IF <condition> <count>` and the statements",
        Word::Else => "`ELSE <count>` and the statements",
        Word::For => "`FOR <slot> <list> <count>` and the statements",
        Word::Match => "`MATCH <slot> <count>` and the arms",
        Word::Err => "`ERR <slot> <count>` and the statements",
        Word::Ok => "`OK <slot> <count>` and the statements",
        Word::Let => "`LET <slot> <value>`",
        Word::Ref => "`REF <slot>`",
        Word::Field => "`FIELD <slot> <field>`",
        Word::Has => "`HAS <record> <field>`",
        Word::Merge => "`MERGE <record> <field> <value> …`",
        _ => "an instruction and its operands, such as `ADD REF 0 LIT 1 5`",
    }
}

/// Whether two words differ in case and separators at most.
fn same_letters(one: &str, other: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        text.bytes().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b':')).map(|b| b.to_ascii_uppercase())
    }
    letters(one).eq(letters(other))
}

/// What begins a statement in other languages, and what is written here.
const ELSEWHERE: [(&str, &str); 16] = [
    ("BREAK", "a loop runs over its whole list: put what follows into `IF NOT <condition> <count>`"),
    ("CONTINUE", "put what follows into `IF NOT <condition> <count>`; a pass without a value adds nothing"),
    ("SKIP", "put what follows into `IF NOT <condition> <count>`; a pass without a value adds nothing"),
    ("WHILE", "the only loop is `FOR <slot> <list> <count>`, over a list"),
    ("REPEAT", "the only loop is `FOR <slot> <list> <count>`, over a list"),
    ("SET", "a slot is bound, and bound again, by `LET <slot> <value>`"),
    ("ASSIGN", "a slot is bound, and bound again, by `LET <slot> <value>`"),
    ("VAR", "a slot is bound by `LET <slot> <value>`, and named in `; Vars:`"),
    ("RETURN", "write `RET <value>`; in a result function `RET_OK <value>` or `RET_ERR <value>`"),
    ("THROW", "write `RET_ERR <value>` in a result function, `FAIL <value>` in any"),
    ("RAISE", "write `FAIL <value>`"),
    ("TRY", "a call is handled by `MATCH <slot> 2` behind it, with an ERR and an OK arm"),
    ("CATCH", "a call is handled by `MATCH <slot> 2` behind it, with an ERR and an OK arm"),
    ("SWITCH", "one of several values is `MATCH_MAP <value> <count> <key> <value> …`"),
    ("ELIF", "put an `IF` into the `ELSE`"),
    ("END", "leave it out: a block ends with its indent, or by its count"),
];

/// How a path of another language is read.
pub(crate) enum Dotted {
    /// By this.
    By(String),
    /// A field of it has no number.
    Unnumbered,
}

impl<'a> Parser<'_, 'a> {
    /// The instruction that a word is but for its case and separators, or by a name from another language.
    pub(crate) fn same_word(&self, token: &Token) -> Option<Word> {
        let text = self.text(token);
        let alias = || ALIASES.iter().find(|&&(name, _)| same_letters(name, text)).map(|&(_, word)| word);
        TABLE.iter().find(|row| same_letters(row.mnemonic, text)).map(|row| row.word).or_else(alias)
    }

    /// Whether so many names may still be looked through for the sake of better messages. The work for a whole file is
    /// bounded, so that many errors among many names stay linear.
    fn may_search(&mut self, names: usize) -> bool {
        let enough = names <= self.searches;
        if enough {
            self.searches -= names;
        }
        enough
    }

    /// The id of a name in a registry.
    fn id_of(&mut self, kind: registry::Kind, name: &str) -> Option<u32> {
        let names = self.registries.get(kind).entries.len();
        if self.may_search(names) { self.registries.get(kind).id(name) } else { None }
    }

    /// The name in a registry that is nearest to another.
    fn nearest_of(&mut self, kind: registry::Kind, name: &str) -> Option<&'a str> {
        // Measuring how near two names are costs about this many comparisons.
        const COST: usize = 16;
        let names = self.registries.get(kind).entries.len();
        if !self.may_search(names.saturating_mul(COST)) {
            return None;
        }
        nearest(name, self.registries.get(kind).entries.iter().map(|entry| entry.name))
    }

    /// The instruction under the cursor. One that is misspelt is reported and read as what it means.
    #[inline]
    pub(crate) fn resolve_word(&mut self, statement: bool) -> Result<Option<Word>, Stop> {
        let token = &self.current;
        if token.word.is_some() || token.kind != Kind::Word {
            return Ok(token.word);
        }
        self.resolve_unknown(statement)
    }

    #[cold]
    fn resolve_unknown(&mut self, statement: bool) -> Result<Option<Word>, Stop> {
        let token = self.current;
        let text = self.text(&token);
        if !statement && (self.kind_of(&token).is_some() || self.id_of(registry::Kind::Vars, text).is_some())
        {
            return Ok(None);
        }
        let same = self.same_word(&token);
        let upper = statement || !text.bytes().any(|byte| byte.is_ascii_lowercase());
        let full = self.diagnostics.dropped() > 0;
        let near = || nearest(text, TABLE.iter().map(|row| row.mnemonic)).and_then(Word::from_mnemonic);
        let Some(word) = same.or_else(|| if upper && !full { near() } else { None }) else { return Ok(None) };
        let name = word.mnemonic();
        let wrong = Diagnostic::new(
            Code::UnknownInstruction,
            token.span(),
            format!("`{}` is no instruction", shorten(text)),
        )
        .expected("an instruction", format!("`{}`", shorten(text)))
        .nearest(Some(name));
        let wrong = match same {
            Some(_) => {
                wrong.help(format!("write `{name}`: {}", word.row().meaning)).replace(token.span(), name)
            }
            None => wrong.help(format!("did you mean `{name}`: {}", word.row().meaning)),
        };
        self.tolerate(wrong)?;
        self.read_as = Some((self.at, word));
        self.refresh();
        Ok(Some(word))
    }

    /// Refuses a word that is no instruction and near to none.
    pub(crate) fn unknown_instruction(&mut self) -> Stop {
        let text = shorten(self.text(&self.current));
        let wrong =
            self.refuse(Code::UnknownInstruction, format!("`{text}` is no instruction"), "an instruction");
        let own = ELSEWHERE.iter().find(|(word, _)| word.eq_ignore_ascii_case(&text)).map(|&(_, help)| help);
        self.stop(wrong.help(own.unwrap_or(
            "a statement begins with an instruction such as `LET`, `IF`, `MATCH`, `FOR` or `RET`",
        )))
    }

    /// Refuses an instruction that is no operand.
    pub(crate) fn no_operand(&mut self, of: Word) -> Stop {
        let found = self.current.word;
        let message = format!("`{}` needs an operand here", of.mnemonic());
        let wrong = self.refuse(Code::ExpectedOperand, message, "an expression");
        let wrong = match found {
            Some(word) if word.row().place == Place::Control => {
                let name = word.mnemonic();
                wrong.help(format!("bind it first, with `LET <slot> {name} …`, and write `REF <slot>` here"))
            }
            _ if of == Word::If && matches!(self.text(&self.current), "OK" | "ERR") => {
                wrong.help("whether a call failed is asked by `MATCH <slot> 2` with an ERR and an OK arm")
            }
            _ => self.lacking(wrong, of),
        };
        let wrong = self.merge_help(wrong, of);
        self.stop(wrong)
    }

    /// What to write where an operand is missing or means nothing.
    fn lacking(&self, wrong: Diagnosed, of: Word) -> Diagnosed {
        let ends = self.current.first || matches!(self.current.kind, Kind::Dedent | Kind::End);
        match of {
            Word::Ret | Word::RetOk if ends && self.gives_nil => {
                let name = of.mnemonic();
                let wrong = wrong.help(format!("a function that gives nil says so: `{name} LIT 2 nil`"));
                wrong.replace(Span::at(self.last_end), " LIT 2 nil")
            }
            Word::RetErr | Word::Fail if ends => {
                wrong.help(format!("write what it fails with: `{} LIT 0 \"…\"`", of.mnemonic()))
            }
            _ => wrong.help(format!("write {}", form(of))),
        }
    }

    /// Refuses what stands in the place of UNDO's call.
    #[cold]
    pub(crate) fn no_call(&mut self) -> Stop {
        let wrong = self.refuse(Code::ExpectedOperand, "`UNDO` takes a call".to_owned(), "`CALL`");
        let wrong = wrong.help("write `UNDO CALL <tool> <count> …`");
        let tool = self.current.kind == Kind::Integer;
        let wrong = if tool { wrong.replace(Span::at(self.current.start), "CALL ") } else { wrong };
        self.stop(wrong)
    }

    /// Where what is missing may have gone into a MERGE, says so.
    fn merge_help(&self, wrong: Diagnosed, of: Word) -> Diagnosed {
        if self.merge_end == Some(self.at) || of == Word::Merge {
            wrong.help(
                "MERGE takes pairs as long as an integer follows; where a count or another pair must follow it, write how \
                 many it takes behind the word, as in `MERGE 1 REF …`",
            )
        } else {
            wrong
        }
    }

    /// Reads an operand that begins with no instruction: reports it, and reads it as what it means.
    pub(crate) fn foreign_operand(&mut self, of: Word) -> Result<Expr<'a>, Stop> {
        let token = self.current;
        if let Some(word) = self.resolve_word(false)? {
            return if word.row().place == Place::Expression {
                self.expr(of)
            } else {
                Err(self.no_operand(of))
            };
        }
        if let Some((slot, name)) = self.named_slot(&token) {
            let message = format!("`{}` stands where an operand belongs", shorten(self.text(&token)));
            self.tolerate(
                Diagnostic::new(Code::ExpectedOperand, token.span(), message)
                    .expected("an expression", format!("`{}`", shorten(self.text(&token))))
                    .help(format!("`{name}` is slot {slot}: write `REF {slot}`"))
                    .replace(token.span(), format!("REF {slot}")),
            )?;
            return Ok(self.reference(slot, token));
        }
        if let Some(field) = self.dotted(self.text(&token)) {
            let text = shorten(self.text(&token));
            let message = format!("`{text}` is a path of another language");
            let wrong = Diagnostic::new(Code::ExpectedOperand, token.span(), message)
                .expected("an expression", format!("`{text}`"));
            return Err(self.fail(read_by(wrong, token.span(), field)));
        }
        if token.kind == Kind::Integer && digits(self.text(&token)).is_some() {
            return self.bare_integer(of, token);
        }
        if let Some((kind, value)) = self.kind_of(&token) {
            let message = format!("`{}` stands without `LIT`", shorten(self.text(&token)));
            let wrong = Diagnostic::new(Code::ExpectedOperand, token.span(), message)
                .expected("an expression", format!("`{}`", shorten(self.text(&token))))
                .help(format!("write `LIT {kind} {}`", shorten(value)));
            let own_text = value == self.text(&token);
            self.tolerate(if own_text {
                wrong.replace(Span::at(token.start), format!("LIT {kind} "))
            } else {
                wrong.replace(token.span(), format!("LIT {kind} {value}"))
            })?;
            let literal = self.value(&token);
            return Ok(Expr { kind: ExprKind::Literal(literal), span: token.span() });
        }
        Err(self.strange_operand(of))
    }

    fn reference(&mut self, number: u32, token: Token) -> Expr<'a> {
        self.bump();
        let registries = &self.registries;
        let slot = self.slots.slot(number, || registries.vars.name(number));
        Expr { kind: ExprKind::Ref(slot), span: token.span() }
    }

    /// A number where an operand belongs: a slot without REF, or a number without LIT.
    fn bare_integer(&mut self, of: Word, token: Token) -> Result<Expr<'a>, Stop> {
        let text = self.text(&token);
        let number = digits(text).unwrap_or(0);
        let known = self.slots.knows(number) || self.registries.vars.name(number).is_some();
        // A list and a record are never numbers.
        let reference = matches!(of, Word::For | Word::Merge | Word::Len | Word::Has);
        let name = self.slots.name(number).map_or(String::new(), |name| format!(", `{name}`"));
        let wrong = Diagnostic::new(
            Code::ExpectedOperand,
            token.span(),
            format!("`{text}` alone is no operand of `{}`", of.mnemonic()),
        )
        .expected("an expression", format!("`{text}`"));
        let wrong = if reference {
            wrong.help(format!("write `REF {text}`")).replace(Span::at(token.start), "REF ")
        } else if known {
            wrong.help(format!(
                "write `REF {text}` for slot {text}{name}, or `LIT 1 {text}` for the number {text}"
            ))
        } else {
            wrong
                .help(format!("there is no slot {text}: write `LIT 1 {text}`"))
                .replace(Span::at(token.start), "LIT 1 ")
        };
        let wrong = if of == Word::Call && known {
            wrong.help(format!("write {}; a value is `REF {text}` or `LIT 1 {text}`", form(of)))
        } else {
            wrong
        };
        self.tolerate(wrong)?;
        if reference || known {
            return Ok(self.reference(number, token));
        }
        let literal = self.value(&token);
        Ok(Expr { kind: ExprKind::Literal(literal), span: token.span() })
    }

    /// Refuses an operand that means nothing here.
    fn strange_operand(&mut self, of: Word) -> Stop {
        let token = self.current;
        let text = self.text(&token);
        let message = format!("`{}` needs an operand here", of.mnemonic());
        let wrong = self.refuse(Code::ExpectedOperand, message, "an expression");
        let wrong = match (token.kind, infix(text)) {
            (Kind::Operator, Some(word)) => {
                let name = word.mnemonic();
                wrong.help(format!("operators stand before their operands: `{name} REF 0 REF 1`"))
            }
            (Kind::Dollar | Kind::Word, _) => {
                let near = self.nearest_of(registry::Kind::Vars, bare(text));
                let help = match near.and_then(|name| Some((name, self.id_of(registry::Kind::Vars, name)?))) {
                    Some((name, slot)) => {
                        format!("a slot is read with `REF <slot>`; nearest is `{name}`, `REF {slot}`")
                    }
                    None => "a slot is read with `REF <slot>`, a text is `LIT 0 \"…\"`".to_owned(),
                };
                let Diagnosed(wrong) = wrong;
                Diagnosed(wrong.nearest(near).help(help))
            }
            _ => self.lacking(wrong, of),
        };
        let wrong = self.merge_help(wrong, of);
        self.stop(wrong)
    }

    /// The slot that a name, bare or after `$`, stands for.
    fn named_slot(&mut self, token: &Token) -> Option<(u32, &'a str)> {
        if !matches!(token.kind, Kind::Word | Kind::Dollar) || token.word.is_some() {
            return None;
        }
        let name = bare(self.text(token));
        self.slot_of(name).map(|number| (number, name))
    }

    /// The number of the slot with a name.
    pub(crate) fn slot_of(&mut self, name: &str) -> Option<u32> {
        if !self.may_search(self.slots.list().len()) {
            return None;
        }
        let parameter = self.slots.list().iter().find(|info| info.name == Some(name));
        let number = parameter.and_then(|info| info.number);
        number.or_else(|| self.id_of(registry::Kind::Vars, name))
    }

    /// The number of the slot that `of` takes.
    #[inline]
    pub(crate) fn slot_number(&mut self, of: Word) -> Result<u32, Stop> {
        if self.current.kind == Kind::Integer { self.id() } else { self.slot_otherwise(of) }
    }

    #[cold]
    fn slot_otherwise(&mut self, of: Word) -> Result<u32, Stop> {
        let token = self.current;
        if token.word == Some(Word::Ref) {
            let name = of.mnemonic();
            self.bump();
            let remove = Span::new(token.start, self.current.start.max(token.end));
            self.tolerate(
                Diagnostic::new(
                    Code::ExpectedId,
                    token.span(),
                    format!("`{name}` takes the number of a slot, without `REF`"),
                )
                .expected("a slot's number", "`REF`")
                .replace(remove, ""),
            )?;
            return if self.current.kind == Kind::Integer {
                self.id()
            } else {
                Err(self.no_id(of, "a slot's number"))
            };
        }
        if let Some((slot, _)) = self.named_slot(&token) {
            self.by_name(&token, slot, "slot")?;
            return Ok(slot);
        }
        Err(self.no_id(of, "a slot's number"))
    }

    /// Reports a name in place of an id, and passes it.
    fn by_name(&mut self, token: &Token, id: u32, what: &str) -> Result<(), Stop> {
        let text = shorten(self.text(token));
        self.tolerate(
            Diagnostic::new(
                Code::ExpectedId,
                token.span(),
                format!("`{text}` is a name, and a number belongs here"),
            )
            .expected(format!("a {what}'s number"), format!("`{text}`"))
            .help(format!("write `{id}`"))
            .replace(token.span(), id.to_string()),
        )?;
        self.bump();
        Ok(())
    }

    /// The instruction that reads a field, where a text is a path from a slot, `user.name`.
    pub(crate) fn dotted(&mut self, text: &str) -> Option<Dotted> {
        let mut parts = bare(text).split('.');
        let first = parts.next()?;
        let fields: Vec<&str> = parts.collect();
        let by_number = digits(first).filter(|&slot| self.slots.knows(slot));
        let slot = by_number.or_else(|| self.slot_of(first))?;
        if fields.is_empty() || fields.len() > limits::NESTING || fields.iter().any(|field| !is_word(field)) {
            return None;
        }
        let mut code = format!("{}{slot}", "FIELD ".repeat(fields.len()));
        for field in fields {
            let Some(id) = self.id_of(registry::Kind::Fields, field) else {
                return Some(Dotted::Unnumbered);
            };
            code.push(' ');
            code.push_str(&id.to_string());
        }
        Some(Dotted::By(code))
    }

    fn no_id(&mut self, of: Word, expected: &str) -> Stop {
        let message = format!("`{}` needs {expected} here", of.mnemonic());
        let wrong = self.refuse(Code::ExpectedId, message, expected).help(format!("write {}", form(of)));
        if of == Word::Ref
            && let Some(field) = self.dotted(self.text(&self.current))
        {
            let begun = self.at.checked_sub(1).and_then(|before| self.tokens.get(before));
            let span = begun.map_or(self.current.span(), |token| token.span().to(self.current.span()));
            return self.stop(Diagnosed(read_by(wrong.0, span, field)));
        }
        let wrong = self.merge_help(wrong, of);
        self.stop(wrong)
    }

    /// The id under the cursor.
    #[inline]
    fn id(&mut self) -> Result<u32, Stop> {
        let id = if self.current.value == NO_VALUE { self.rare_id()? } else { self.current.value };
        self.bump();
        Ok(id)
    }

    /// Looks at an id that is long, and reports one that is none, or that begins with zeros.
    #[cold]
    fn rare_id(&mut self) -> Result<u32, Stop> {
        let token = self.current;
        let text = self.text(&token);
        let Some(id) = digits(text) else {
            self.tolerate(registry::id_range(token.span(), text))?;
            return Ok(0);
        };
        if !text.starts_with('0') {
            return Ok(id);
        }
        let number = text.trim_start_matches('0');
        let number = if number.is_empty() { "0" } else { number };
        let message = format!("`{}` begins with a zero", shorten(text));
        self.report(
            Diagnostic::new(Code::BadNumber, token.span(), message)
                .expected("a number without leading zeros", format!("`{}`", shorten(text)))
                .replace(token.span(), number),
        );
        Ok(id)
    }

    /// The field that `of` takes.
    #[inline]
    pub(crate) fn field_name(&mut self, of: Word) -> Result<Name<'a>, Stop> {
        self.registry_name(of, registry::Kind::Fields)
    }

    /// The tool that CALL takes.
    #[inline]
    pub(crate) fn tool_name(&mut self) -> Result<Name<'a>, Stop> {
        self.registry_name(Word::Call, registry::Kind::Tools)
    }

    #[inline]
    fn registry_name(&mut self, of: Word, kind: registry::Kind) -> Result<Name<'a>, Stop> {
        let token = self.current;
        if token.kind != Kind::Integer {
            return self.named_otherwise(of, kind);
        }
        let id = self.id()?;
        let name = self.registries.get(kind).name(id);
        Ok(Name { text: name.unwrap_or_else(|| self.unnamed(token, kind)), span: token.span() })
    }

    #[cold]
    fn named_otherwise(&mut self, of: Word, kind: registry::Kind) -> Result<Name<'a>, Stop> {
        let what = kind.of_one();
        let token = self.current;
        let span = token.span();
        let text = self.text(&token);
        let name = match token.kind {
            Kind::Word if token.word.is_none() => text,
            Kind::Text => text.trim_matches('"'),
            _ => return Err(self.no_id(of, &format!("a {what}'s number"))),
        };
        if let Some(id) = self.id_of(kind, name) {
            self.by_name(&token, id, what)?;
            return Ok(Name { text: name, span });
        }
        let near = self.nearest_of(kind, name);
        let id = near.and_then(|near| self.id_of(kind, near));
        let message = format!("`{}` needs a {what}'s number here", of.mnemonic());
        let Diagnosed(wrong) = self.refuse(Code::ExpectedId, message, &format!("a {what}'s number"));
        if let (Some(near), Some(id)) = (near, id) {
            let wrong = wrong.nearest(Some(near)).help(format!("nearest is `{near}`, number {id}"));
            return Err(self.stop(Diagnosed(wrong)));
        }
        let id = self.next_id(kind, name);
        let registry = kind.name();
        if of == Word::Field && matches!(name, "length" | "size" | "count") {
            let wrong = wrong.help("how many items or characters there are is `LEN REF <slot>`");
            return Err(self.stop(Diagnosed(wrong)));
        }
        self.tolerate(wrong.help(format!(
            "names have numbers here: add `{id}={}` to the line `; {registry}:` of this function, and write `{id}`",
            shorten(name)
        )))?;
        self.bump();
        Ok(Name { text: name, span })
    }

    /// The id that a name which no registry has could be given.
    fn next_id(&mut self, kind: registry::Kind, name: &'a str) -> u32 {
        if !self.may_search(self.missing.len() + self.registries.get(kind).entries.len()) {
            return 0;
        }
        let free = self.registries.get(kind).entries.iter().map(|entry| entry.id.saturating_add(1)).max();
        let mut id = free.unwrap_or(0);
        for &(other, missing) in &self.missing {
            if other == kind && missing == name {
                return id;
            }
            id = id.saturating_add(u32::from(other == kind));
        }
        self.missing.push((kind, name));
        id
    }

    /// Reports an id that no registry names; its digits stand for the name.
    #[cold]
    fn unnamed(&mut self, token: Token, kind: registry::Kind) -> &'a str {
        let text = self.text(&token);
        let (registry, what) = (kind.name(), kind.of_one());
        self.report(
            Diagnostic::new(Code::UnnamedId, token.span(), format!("no registry names {what} {text}"))
                .expected(format!("an id of `; {registry}:`"), format!("`{text}`"))
                .help(format!("add `{text}=<name>` to the line `; {registry}:` of this function")),
        );
        text
    }

    /// Passes an equals sign between a slot or a field and its value.
    #[inline]
    pub(crate) fn skip_equals(&mut self, of: Word) -> Result<(), Stop> {
        if self.current.kind == Kind::Operator { self.skip_operator(of) } else { Ok(()) }
    }

    #[cold]
    fn skip_operator(&mut self, of: Word) -> Result<(), Stop> {
        let token = self.current;
        if !matches!(self.text(&token), "=" | ":=" | "<-") {
            return Ok(());
        }
        let text = self.text(&token);
        self.bump();
        let remove = Span::new(token.start, self.current.start.max(token.end));
        let before = self.source.get(..token.start as usize).unwrap_or("");
        let apart = before.ends_with([' ', '\t', '\n', '\r']);
        self.tolerate(
            Diagnostic::new(
                Code::UnexpectedText,
                token.span(),
                format!("`{}` needs no `{text}`", of.mnemonic()),
            )
            .expected("an expression", format!("`{text}`"))
            .replace(remove, if apart { "" } else { " " }),
        )
    }

    /// Refuses what stands in the place of a count.
    pub(crate) fn no_count(&mut self, of: Word, what: &str) -> Stop {
        let message = format!("`{}` needs the number of {what} here", of.mnemonic());
        let wrong = self.refuse(Code::ExpectedCount, message, &format!("the number of {what}"));
        let text = self.text(&self.current);
        let wrong = match infix(text) {
            _ if matches!(of, Word::If | Word::For | Word::MatchMap)
                && self.current.word.is_some_and(|word| word.row().place == Place::Expression) =>
            {
                wrong.help(
                    "an operator takes two values: for three, write it twice, `AND AND REF 0 REF 1 REF 2`",
                )
            }
            Some(word) if self.current.kind == Kind::Operator => wrong
                .help(format!("operators stand before their operands: `{} REF 0 REF 1`", word.mnemonic())),
            _ => wrong.help(format!("write {}", form(of))),
        };
        let wrong = self.merge_help(wrong, of);
        self.stop(wrong)
    }

    /// Refuses the end of a counted list that has fewer than its count says.
    pub(crate) fn short_list(
        &mut self,
        of: Word,
        what: &str,
        count_token: usize,
        count: u32,
        read: u32,
    ) -> Stop {
        let message = format!("`{}` counts {count} {what}, but {read} stand here", of.mnemonic());
        let code =
            if of == Word::List || of == Word::MatchMap { Code::ExpectedOperand } else { Code::ExpectedId };
        let mut wrong = self.refuse(code, message, &format!("{count} {what}"));
        if let Some(count) = self.tokens.get(count_token) {
            wrong = wrong.related(count.span(), "the count");
        }
        wrong.0.span = Span::at(self.last_end);
        let wrong = wrong.help(format!("write `{read}` for the count, or add what is missing: {}", form(of)));
        let wrong = self.merge_help(wrong, Word::List);
        self.stop(wrong)
    }

    /// Refuses what is no key of a case.
    pub(crate) fn no_case_key(&mut self) -> Stop {
        let token = self.current;
        let message = "a key of `MATCH_MAP` is a literal".to_owned();
        let wrong =
            self.refuse(Code::ExpectedOperand, message, "a text, number, `true`, `false`, `nil` or `ELSE`");
        let text = self.text(&token);
        let wrong = if token.kind == Kind::Word && token.word.is_none() {
            wrong.help(format!("write `\"{text}\"`")).replace(token.span(), format!("\"{text}\""))
        } else {
            wrong.help("keys are constants; compare anything else with `IF EQ`")
        };
        let wrong = self.merge_help(wrong, Word::MatchMap);
        self.stop(wrong)
    }
}

/// What to write where a path stands.
fn read_by(wrong: Diagnostic, path: Span, field: Dotted) -> Diagnostic {
    match field {
        Dotted::By(code) => wrong.help("a field is read with FIELD, by numbers").replace(path, code),
        Dotted::Unnumbered => {
            wrong.help("a field is read with `FIELD <slot> <field>`; `; Fields:` gives it its number")
        }
    }
}

/// Whether a text could be the name of a field.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// A name without the marks of a reference.
fn bare(text: &str) -> &str {
    text.trim_start_matches(['$', '{']).trim_end_matches('}')
}
