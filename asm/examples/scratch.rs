fn main() {
    for path in std::env::args().skip(1) {
        let source = std::fs::read_to_string(&path).unwrap();
        let (program, diagnostics) = ilo_asm::build::build(&source, &Default::default());
        for d in diagnostics.as_slice() { println!("{path}: {d:?}"); }
        if let Some(mut program) = program {
            println!("{}", ilo_asm::disasm::disassemble(&program));
            let d = program.debug.take().unwrap();
            println!("{path}: stripped {} bytes", ilo_spec::encode::encode(&program).len());
            let (again, diags) = ilo_asm::build::build(&d.source, &ilo_asm::build::Options { strip: true, ..Default::default() });
            if again.as_ref() != Some(&program) { println!("{:?}\n{}\n{}", diags, d.source, ilo_asm::disasm::disassemble(&again.unwrap_or_default())); }
        }
    }
}
