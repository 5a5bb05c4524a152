//! The files of Goose and Continue, which are YAML.

use super::{names, read, refused, server, tools_of, way};
use crate::mcp::server_config::Way;
use crate::tools::Tools;
use std::path::Path;
use std::time::Duration;

#[test]
fn goose() {
    let text = "\
# Model Configuration
GOOSE_PROVIDER: \"anthropic\"
GOOSE_TEMPERATURE: 0.7
GOOSE_MODE: \"auto\"
GOOSE_SEARCH_PATHS:
  - \"/usr/local/bin\"

# Extensions Configuration
extensions:
  developer:
    bundled: true
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  drive:
    args: [\"-y\", '@example/drive']
    available_tools:
    - read
    bundled: null
    cmd: npx
    description: ''
    enabled: true
    env_keys:
    - HOME
    envs: {A: b}
    name: drive
    timeout: 300
    type: stdio
  far:
    type: streamable_http
    uri: https://far.example/mcp
    headers:
      Authorization: Bearer t0ken
    enabled: true
  off:
    type: stdio
    cmd: x
    args: []
    enabled: false
slash_commands:
  - command: \"run-tests\"
    recipe_path: \"/path/to/recipe.yaml\"
";
    let tools = read("goose/config.yaml", text);
    assert_eq!(names(&tools), ["developer", "drive", "far"]);
    refused(&tools, "developer", "a part of its client");
    refused(&tools, "off", "turns its server off (`enabled`");
    let home = std::env::var("HOME").unwrap();
    assert_eq!(way(&tools, "drive"), format!("npx -y @example/drive A=b HOME={home}"));
    assert_eq!(way(&tools, "far"), "https://far.example/mcp Authorization=Bearer t0ken");
    assert_eq!(server(&tools, "drive").timeout, Duration::from_mins(5));
    assert_eq!(tools_of(&tools, "drive", &["read", "write"]), "read !write");
    let with = |mode: &str| read("config.yaml", &text.replace("\"auto\"", mode));
    assert_eq!(tools_of(&with("smart_approve"), "drive", &["read", "write"]), "?read !write");
    assert_eq!(tools_of(&with("approve"), "far", &["get"]), "?get");
    refused(&with("chat"), "far", "turns its server off (`GOOSE_MODE` of the file)");
    let listed = read("config.yml", &format!("GOOSE_ALLOWLIST: https://x.example/list.yaml\n{text}"));
    refused(&listed, "far", "`GOOSE_ALLOWLIST` of the file has no effect here");
}

#[test]
fn continue_dev() {
    let block = "\
name: Playwright mcpServer
version: 0.0.1
schema: v1
mcpServers:
  - name: Browser search
    command: npx
    args:
      - \"@playwright/mcp@latest\"
";
    let tools = read(".continue/mcpServers/playwright-mcp.yaml", block);
    assert_eq!(names(&tools), ["Browser search"]);
    assert_eq!(way(&tools, "Browser search"), "npx @playwright/mcp@latest");
    let Way::Program { folder, .. } = &server(&tools, "Browser search").way else { panic!() };
    assert_eq!(folder, Path::new("/srv/me/project"));
    let text = "\
models:
  - &m {name: A, provider: x}
  - <<: *m
    name: B
rules: []
mcpServers:
  - name: base
    type: stdio
    command: npx
    connectionTimeout: 4000
    args:
      - -y
      - --at
      - ${{ secrets.HOME }}
    env: &env
      HOME_SEEN: ${{ secrets.HOME }}/x
      PORT: 8080
  - name: far
    type: streamable-http
    url: https://far.example/mcp
    requestOptions:
      headers:
        Authorization: Bearer ${{secrets.HOME}}
  - {name: old, type: sse, url: 'https://old.example'}
  - name: kept
    command: x
    env:
      <<: *env
      TOKEN: ${{ secrets.NO_SUCH_VARIABLE }}
  - name: given
    command: x
    env: {A: '${{ inputs.A }}'}
";
    let tools = read(".continue/config.yaml", text);
    let home = std::env::var("HOME").unwrap();
    assert_eq!(way(&tools, "base"), format!("npx -y --at {home} HOME_SEEN={home}/x PORT=8080"));
    assert_eq!(server(&tools, "base").timeout, Duration::from_secs(4));
    assert_eq!(way(&tools, "far"), format!("https://far.example/mcp Authorization=Bearer {home}"));
    refused(&tools, "old", "the older protocol, `sse`, is not spoken");
    refused(&tools, "kept", "the environment has no text `NO_SUCH_VARIABLE`");
    refused(&tools, "given", "only variables of the environment are known here");
}

/// A mistake has its line and column, as in the other forms.
#[test]
fn mistakes_in_yaml_have_a_place() {
    let problem = |text: &str| {
        Tools::from_text("t.yaml", text, Path::new("/p")).map(drop).expect_err("a mistake").to_string()
    };
    let text = "mcpServers:\n  a:\n    command: x\n    policy:\n      alow: [t]\n";
    assert!(problem(text).contains("t.yaml:5:7"), "{}", problem(text));
    assert!(problem("mcpServers:\n  a: {command: [x}\n").contains("t.yaml:2:"));
    assert!(problem("mcpServers: !x 1\n").contains("a tag"));
    assert!(problem("").contains("expected a record"));
    let own = "tools:\n  add: {mock: {returns: 3}, input_schema: {type: object}}\n";
    let read = Tools::from_text("t.yml", own, Path::new("/p"));
    assert!(read.is_ok(), "{:?}", read.err());
}
