//! MCP servers that are described in code, as tools of a program. It needs `npx`, which gets the server from
//! npm.
//!
//! `cargo run -p ilo-examples --example mcp_servers`

use ilo_host::run::{AsyncOptions, run_async};
use ilo_host::tools::{McpServer, Policy, Tools};
use ilo_vm::Program;
use serde_json::json;
use std::error::Error;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

const SOURCE: &str = "
; fn read(path: text) -> result any, any
; Tools: 0=mcp://files/read_text_file
; Fields: 0=path
LET 1 CALL 0 1 0 REF 0
RET_OK REF 1
";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if Command::new("npx").arg("--version").output().is_err() {
        println!("skipped: npx is not installed");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    // Settings are taken as they are: nothing in them is replaced.
    let file = folder.path().join("${note} $1.txt");
    fs::write(&file, "read by a server")?;
    let server = McpServer::program("files", "npx")
        .args(["-y", "@modelcontextprotocol/server-filesystem"])
        .args([folder.path().to_string_lossy()])
        .timeout(Duration::from_mins(1))
        .allow(["read_text_file"])
        .tool_policy("read_text_file", &Policy::reads());
    let mut tools = Tools::new();
    tools.add_mcp_server(server)?;
    if let Err(problems) = tools.connect_all_async().await {
        println!("skipped: {problems}");
        return Ok(());
    }
    let (built, diagnostics) = ilo_asm::compile::compile(SOURCE, &ilo_asm::compile::Options::default());
    let program = Program::new(built.ok_or(diagnostics)?)?;
    let options = AsyncOptions::new(&Arc::new(tools));
    let finished = run_async(&program, &json!({"path": file}), options).await?;
    println!("{}", finished.outcome().ok_or("it was interrupted")?);
    Ok(())
}
