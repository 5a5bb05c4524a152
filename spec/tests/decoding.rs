//! The packed form (section 7): every way in which bytes can break it, with the position, and what is just
//! valid.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ilo_spec::bytes::ByteReader;
use ilo_spec::decode::{decode, instruction_offsets};
use ilo_spec::encode::{MAGIC, Section, VERSION};
use ilo_spec::error::{DecodeError, DecodeErrorKind as Kind};
use ilo_spec::isa::Op;
use ilo_spec::operand::{FieldId, Imm, In, NumberId, Out};
use ilo_spec::program::{Key, Need, Number, Program};
use ilo_spec::types::{Base, Type};

/// Where the content of the only section of [`file`] begins, if it is short: after magic, version, number and
/// length.
const CONTENT: usize = 7;

/// A file with one section.
fn file(section: Section, content: &[u8]) -> Vec<u8> {
    let mut sink = ilo_spec::bytes::ByteSink::default();
    sink.size(content.len());
    [&MAGIC[..], &[VERSION, section as u8], &sink.into_bytes(), content].concat()
}

fn read(section: Section, content: &[u8]) -> Result<Program, (usize, Kind)> {
    decode(&file(section, content)).map_err(|DecodeError { offset, kind }| (offset, kind))
}

/// The error in the content of a section, and at which of its bytes.
fn refused(section: Section, content: &[u8]) -> (usize, Kind) {
    let (offset, kind) = read(section, content).unwrap_err();
    (offset - CONTENT, kind)
}

#[test]
fn the_head_is_magic_and_version() {
    let head = |bytes: &[u8]| decode(bytes).map_err(|error| (error.offset, error.kind));
    assert_eq!(head(b"ilob\x01"), Ok(Program::default()));
    for bytes in [&b""[..], b"ilo", b"ilox\x01", b"xilob\x01"] {
        assert_eq!(head(bytes), Err((0, Kind::Magic)), "{bytes:?}");
    }
    assert_eq!(head(b"ilob"), Err((4, Kind::Truncated)));
    assert_eq!(head(b"ilob\x02"), Err((4, Kind::Version { found: 2 })));
}

#[test]
fn sections_rise_and_fill_their_length() {
    let sections = |bytes: &[u8]| {
        decode(&[&MAGIC[..], &[VERSION], bytes].concat()).map_err(|error| (error.offset, error.kind))
    };
    assert!(sections(&[2, 1, 0, 3, 1, 0]).is_ok());
    assert_eq!(sections(&[3, 1, 0, 2, 1, 0]), Err((8, Kind::Section { found: 2 })));
    assert_eq!(sections(&[2, 1, 0, 2, 1, 0]), Err((8, Kind::Section { found: 2 })));
    assert_eq!(sections(&[11, 1, 0]), Err((5, Kind::Section { found: 11 })));
    assert_eq!(sections(&[0x82, 1, 0]), Err((5, Kind::Section { found: 0x82 })));
    assert_eq!(sections(&[2]), Err((6, Kind::Truncated)));
    let long = Kind::Count { what: "bytes", found: 2, limit: 1 };
    assert_eq!(sections(&[2, 2, 0]), Err((6, long)));
    assert_eq!(refused(Section::Numbers, &[0, 0]), (1, Kind::SectionLength), "a byte is left");
    // A section is not read into the next one.
    assert_eq!(sections(&[4, 2, 1, 0x80, 5, 1, 0]), Err((9, Kind::Truncated)));
}

#[test]
fn numbers_are_as_short_as_can_be_and_in_range() {
    let varint = |bytes: &[u8]| ByteReader::new(bytes).varint().map_err(|error| error.kind);
    for (bytes, value) in [
        (&[0][..], 0),
        (&[0x7f], 127),
        (&[0x80, 1], 128),
        (&[0xff, 0x7f], 0x3fff),
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], u64::MAX),
        (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1], 1 << 63),
    ] {
        assert_eq!(varint(bytes), Ok(value));
        assert_eq!(varint(&bytes[..bytes.len() - 1]), Err(Kind::Truncated));
    }
    for bytes in [
        &[0x80, 0][..],
        &[0xff, 0x80, 0],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0],
    ] {
        assert_eq!(varint(bytes), Err(Kind::Varint), "{bytes:?}");
    }
    assert_eq!(ByteReader::new(&[0xff, 0xff, 3]).varint16().unwrap(), u16::MAX);
    assert_eq!(ByteReader::new(&[0x80, 0x80, 4]).varint16().unwrap_err().kind, Kind::Varint);
    assert_eq!(ByteReader::new(&[0xff, 0xff, 0xff, 0xff, 15]).varint32().unwrap(), u32::MAX);
    assert_eq!(ByteReader::new(&[0x80, 0x80, 0x80, 0x80, 16]).varint32().unwrap_err().kind, Kind::Varint);
    // Zigzag: 0, -1, 1, -2, and the ends of 32 bits.
    for (byte, value) in [(0, 0), (1, -1), (2, 1), (3, -2)] {
        assert_eq!(ByteReader::new(&[byte]).zigzag64().unwrap(), value);
    }
    assert_eq!(ByteReader::new(&[0xff, 0xff, 0xff, 0xff, 15]).zigzag32().unwrap(), i32::MIN);
    assert_eq!(ByteReader::new(&[0x80, 0x80, 0x80, 0x80, 16]).zigzag32().unwrap_err().kind, Kind::Varint);
}

#[test]
fn a_reader_tells_where_it_is() {
    let mut reader = ByteReader::new(&[1, 0x80, 1, 9]);
    assert_eq!((reader.offset(), reader.left()), (0, 4));
    assert_eq!(reader.byte().unwrap(), 1);
    assert_eq!((reader.offset(), reader.left()), (1, 3));
    assert_eq!(reader.varint().unwrap(), 128);
    assert_eq!((reader.offset(), reader.left()), (3, 1));
}

#[test]
fn strings_fill_their_bytes_and_are_text_each() {
    let strings = |content: &[u8]| read(Section::Strings, content).map(|program| program.strings.len());
    assert_eq!(strings(&[1, 2, 1, 2, b'a', 0xc3, 0xa9]), Ok(2));
    assert_eq!(strings(&[0, 0]), Ok(0));
    let fields = Kind::Count { what: "field names", found: 2, limit: 1 };
    assert_eq!(refused(Section::Strings, &[2, 1, 1, b'a']), (1, fields));
    // Less text than declared, more text, and lengths that exceed 32 bits together.
    assert_eq!(refused(Section::Strings, &[0, 1, 2, b'a']).1, Kind::SectionLength);
    assert_eq!(refused(Section::Strings, &[0, 1, 1, b'a', b'b']).1, Kind::SectionLength);
    let wide = [0, 2, 0xff, 0xff, 0xff, 0xff, 15, 1, b'a'];
    assert_eq!(refused(Section::Strings, &wide).1, Kind::Varint);
    assert_eq!(refused(Section::Strings, &[0, 1, 1, 0xff]), (3, Kind::Utf8));
    // The whole text is valid, but its strings are not.
    assert_eq!(refused(Section::Strings, &[0, 2, 1, 1, 0xc3, 0xa9]), (4, Kind::Utf8));
}

#[test]
fn constants_are_integers_or_finite_doubles() {
    let numbers = |content: &[u8]| read(Section::Numbers, content).map(|program| program.numbers);
    assert_eq!(numbers(&[2, 0, 1, 0, 4]), Ok(vec![Number::Int(-1), Number::Int(2)]));
    let double = [&[1, 1][..], &1.5_f64.to_le_bytes()].concat();
    assert_eq!(numbers(&double), Ok(vec![Number::Double(1.5)]));
    for not_finite in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let bytes = [&[1, 1][..], &not_finite.to_le_bytes()].concat();
        assert_eq!(refused(Section::Numbers, &bytes), (10, Kind::NotFinite));
    }
    assert_eq!(refused(Section::Numbers, &double[..9]), (2, Kind::Truncated));
    let tag = Kind::Tag { what: "kind of number", found: 2 };
    assert_eq!(refused(Section::Numbers, &[1, 2, 0]), (1, tag));
}

#[test]
fn tables_hold_indexes_of_their_width() {
    let shapes = read(Section::Shapes, &[2, 0, 2, 1, 0]).unwrap().shapes;
    assert_eq!(shapes, [vec![], vec![FieldId(1), FieldId(0)]]);
    assert_eq!(refused(Section::Shapes, &[1, 3, 0x80, 0x80, 4]).1, Kind::Varint);
    assert_eq!(read(Section::Tools, &[1, 9]).unwrap().tools.len(), 1);
    let calls = read(Section::Calls, &[1, 3, 4]).unwrap().calls;
    assert_eq!((calls[0].tool.0, calls[0].shape.0), (3, 4));
    assert_eq!(refused(Section::Calls, &[1, 3]).1, Kind::Count { what: "calls", found: 1, limit: 0 });
}

#[test]
fn maps_have_keys_of_five_kinds_and_a_default_or_none() {
    let map = |content: &[u8]| read(Section::Maps, content).map(|mut program| program.maps.remove(0));
    let found = map(&[1, 5, 0, 9, 1, 8, 2, 7, 3, 1, 6, 4, 2, 5, 0]).unwrap();
    let keys: Vec<Key> = found.cases.iter().map(|case| case.0).collect();
    let text = ilo_spec::operand::StringId(2);
    let expected = [Key::Nil, Key::Bool(false), Key::Bool(true), Key::Number(NumberId(1)), Key::Text(text)];
    assert_eq!(keys, expected);
    let targets: Vec<u16> = found.cases.iter().map(|case| case.1).collect();
    assert_eq!((targets, found.default), (vec![9, 8, 7, 6, 5], None));
    assert_eq!(map(&[1, 0, 1]).unwrap().default, Some(0));
    assert_eq!(map(&[1, 0, 0x80, 0x80, 4]).unwrap().default, Some(u16::MAX));
    assert_eq!(refused(Section::Maps, &[1, 0, 0x81, 0x80, 4]).1, Kind::Varint);
    let tag = Kind::Tag { what: "kind of key", found: 5 };
    assert_eq!(refused(Section::Maps, &[1, 1, 5, 0, 0]), (2, tag));
}

#[test]
fn inputs_say_what_a_parameter_takes_and_ascend() {
    // One function with two parameters.
    let inputs = |content: &[u8]| {
        let functions = [7, 11, 1, 0, 2, 0, 1, 1, 1, 0, 0, 2, 0];
        let mut bytes = [&MAGIC[..], &[VERSION], &functions].concat();
        bytes.extend([9, u8::try_from(content.len()).unwrap()]);
        bytes.extend(content);
        let needs = |program: &Program| program.functions[0].parameters.iter().map(|it| it.need).collect();
        let start = bytes.len() - content.len();
        decode(&bytes)
            .map(|program| {
                assert_eq!(ilo_spec::encode::encode(&program), bytes, "one form only");
                needs(&program)
            })
            .map_err(|error| (error.offset - start, error.kind))
    };
    let text = ilo_spec::operand::StringId(3);
    assert_eq!(inputs(&[1, 0, 1, 0]), Ok(vec![Need::Required, Need::Nullable]));
    assert_eq!(inputs(&[2, 0, 0, 1, 0, 1, 2, 3]), Ok(vec![Need::Optional, Need::Default(text)]));
    let input = |found| Kind::Tag { what: "input", found };
    assert_eq!(inputs(&[2, 0, 1, 1, 0, 1, 1]), Err((4, input(1))));
    assert_eq!(inputs(&[2, 0, 1, 1, 0, 0, 1]), Err((4, input(0))));
    assert_eq!(inputs(&[1, 0, 2, 1]), Err((1, input(2))));
    assert_eq!(inputs(&[1, 1, 0, 1]), Err((1, input(0))));
    assert_eq!(inputs(&[1, 0, 0, 3]), Err((3, Kind::Tag { what: "kind of input", found: 3 })));
}

#[test]
fn functions_have_types_and_follow_each_other() {
    let functions = |content: &[u8]| read(Section::Functions, content).map(|program| program.functions);
    // Two functions of one and two instructions; the first has a parameter of type list of text and fails
    // with a bool.
    let two = [2, 3, 1, 7, 0xa, 1, 1, 3, 9, 1, 4, 0, 0, 0, 2, 2];
    let found = functions(&two).unwrap();
    let parameter = found[0].parameters[0];
    assert_eq!((parameter.name.0, parameter.ty), (7, Type { lists: 1, base: Base::Text }));
    assert_eq!(found[0].output.ok.base, Base::Number);
    assert_eq!(found[0].output.err.map(|ty| ty.base), Some(Base::Bool));
    assert_eq!((found[0].name.0, found[0].registers, found[0].start, found[0].end), (3, 9, 0, 1));
    assert_eq!((found[1].output.err, found[1].start, found[1].end), (None, 1, 3));
    let output = Kind::Tag { what: "kind of output", found: 2 };
    assert_eq!(refused(Section::Functions, &[1, 0, 0, 2, 0, 0, 0]), (3, output));
    // There are five bases, and at most 128 lists around one.
    assert_eq!(functions(&[1, 0, 0, 0, 4, 1, 1]).unwrap()[0].output.ok, Type::NIL);
    let base = Kind::Tag { what: "type", found: 5 };
    assert_eq!(refused(Section::Functions, &[1, 0, 0, 0, 5, 1, 1]), (4, base));
    let full = [1, 0, 0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 15];
    assert_eq!(functions(&full).unwrap()[0].end, u32::MAX);
    let wide = [2, 0, 0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 15, 0, 0, 0, 1, 0, 1];
    assert_eq!(refused(Section::Functions, &wide).1, Kind::Varint);
}

#[test]
fn code_is_read_alike_the_short_way_and_the_long() {
    let code = |content: &[u8]| read(Section::Code, content).map(|program| program.code);
    let int = |dst, value| Op::Int { dst: Out(dst), value: Imm(value) };
    let ret = Op::Return { src: In(0) };
    assert_eq!(code(&[3, 0, 2, 0x78, 0]).unwrap(), [int(0, 1), ret]);
    // An operand of two bytes; and the same instructions if more bytes follow than a word has.
    assert_eq!(code(&[3, 0, 0x80, 1, 0x78, 0]).unwrap(), [int(0, 64), ret]);
    let long = [[3, 1, 1].repeat(9), [3, 2, 0xff, 1, 0x78, 0].to_vec()].concat();
    let expected = [vec![int(1, -1); 9], vec![int(2, -128), ret]].concat();
    assert_eq!(code(&long).unwrap(), expected);
    for padding in [0, 8] {
        let rest = [0x78, 0].repeat(padding);
        let unknown = [&[0x78, 0, 0xff][..], &rest].concat();
        assert_eq!(refused(Section::Code, &unknown), (2, Kind::Instruction { found: 0xff }));
    }
    assert_eq!(refused(Section::Code, &[0x78]), (1, Kind::Truncated));
    assert_eq!(refused(Section::Code, &[3, 0, 0x80, 0x80, 0x80, 0x80, 16]).1, Kind::Varint);
}

#[test]
fn instructions_are_found_in_their_section() {
    let strings = [Section::Strings as u8, 4, 0, 1, 1, b'f'];
    let code = [Section::Code as u8, 6, 3, 0, 0x80, 1, 0x78, 0];
    let source = [Section::Source as u8, 1, b';'];
    let bytes = [&MAGIC[..], &[VERSION], &strings, &code, &source].concat();
    assert_eq!(instruction_offsets(&bytes), Ok(vec![13, 17]));
    assert_eq!(instruction_offsets(&bytes[..5 + strings.len()]), Ok(vec![]));
    let bare = [&MAGIC[..], &[VERSION], &code].concat();
    assert_eq!(instruction_offsets(&bare), Ok(vec![7, 11]));
    assert_eq!(instruction_offsets(b"ilob").unwrap_err().kind, Kind::Truncated);
    let cut = instruction_offsets(&bytes[..15]).unwrap_err();
    assert!(matches!(cut.kind, Kind::Count { what: "bytes", .. }), "{cut}");
}

#[test]
fn positions_go_on_from_each_other() {
    let positions = |content: &[u8]| {
        read(Section::Positions, content).map(|program| {
            let debug = program.debug.unwrap();
            debug.positions.iter().map(|p| (p.pc, p.line, p.column)).collect::<Vec<_>>()
        })
    };
    assert_eq!(positions(&[2, 1, 6, 5, 2, 1, 4]), Ok(vec![(1, 3, 5), (3, 2, 4)]));
    assert_eq!(refused(Section::Positions, &[1, 0, 1, 0]).1, Kind::Varint, "a line before the first");
    // As many as a program can have instructions, not a function.
    let many = [&[0xc0, 0x9a, 0x0c][..], &[1, 2, 0].repeat(200_000)].concat();
    assert_eq!(positions(&many).unwrap().len(), 200_000);
    let far = [2, 0xff, 0xff, 0xff, 0xff, 15, 0, 0, 1, 0, 0];
    assert_eq!(refused(Section::Positions, &far).1, Kind::Varint, "an instruction past 32 bits");
    let down = [1, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0];
    assert_eq!(refused(Section::Positions, &down).1, Kind::Varint, "a line past 32 bits");
}

#[test]
fn the_source_is_text() {
    let source = |content: &[u8]| read(Section::Source, content).map(|program| program.debug.unwrap().source);
    assert_eq!(source("; é".as_bytes()), Ok("; é".to_owned()));
    assert_eq!(refused(Section::Source, &[b';', 0xff]).1, Kind::Utf8);
}

/// No memory is reserved beyond what the bytes justify.
#[test]
fn a_count_is_not_believed() {
    for (section, what, least) in [
        (Section::Numbers, "numbers", 2),
        (Section::Shapes, "shapes", 1),
        (Section::Calls, "calls", 2),
        (Section::Functions, "functions", 6),
        (Section::Positions, "positions", 3),
    ] {
        let content = [&[13_u8][..], &[0; 12]].concat();
        let kind = Kind::Count { what, found: 13, limit: 12 / least };
        assert_eq!(refused(section, &content), (0, kind));
    }
}

#[test]
fn records_list_the_fields_of_parameters() {
    let records = |content: &[u8]| {
        let mut bytes = [&MAGIC[..], &[VERSION], &[10, u8::try_from(content.len()).unwrap()]].concat();
        let start = bytes.len();
        bytes.extend(content);
        decode(&bytes)
            .map(|program| {
                assert_eq!(ilo_spec::encode::encode(&program), bytes, "one form only");
                program.records
            })
            .map_err(|error| (error.offset - start, error.kind))
    };
    // Parameter 2 of function 1: `{3: number?, 4: list {5: text|nil}}`, a list of any being 8.
    let found = records(&[1, 1, 2, 2, 3, 1, 1, 4, 8, 4, 1, 5, 2, 2]).unwrap();
    assert_eq!((found[0].function.0, found[0].place), (1, 2));
    let [id, lines] = &found[0].fields[..] else { panic!("two fields") };
    assert_eq!((id.name.0, id.optional, id.nullable, id.fields.len()), (3, true, false, 0));
    assert_eq!((lines.name.0, lines.ty.lists, lines.optional), (4, 1, false));
    assert_eq!((lines.fields[0].name.0, lines.fields[0].nullable), (5, true));
    let kind = |found| Kind::Tag { what: "kind of field", found };
    assert_eq!(records(&[1, 0, 0, 1, 0, 0, 8]), Err((6, kind(8))));
    // The sixteenth record may not hold another.
    let nested = |records: usize| {
        let mut content = vec![1, 0, 0];
        for _ in 1..records {
            content.extend([1, 0, 0, 4]);
        }
        content.extend([1, 0, 0, 0]);
        content
    };
    let most = ilo_spec::limits::RECORD_TYPES;
    assert!(records(&nested(most)).is_ok());
    assert_eq!(records(&nested(most + 1)), Err((3 + 4 * most - 1, kind(4))));
}
