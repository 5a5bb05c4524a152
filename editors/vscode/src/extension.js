// Starts `ilo-asm lsp` for programs of ilo, and for JSON and YAML files, among which the server selects the
// programs.

const { commands, window, workspace } = require("vscode");
const { LanguageClient, RevealOutputChannelOn } = require("vscode-languageclient/node");

let client;

async function start() {
  const settings = workspace.getConfiguration("ilo");
  const catalog = settings.get("catalog");
  const server = { command: settings.get("path") || "ilo-asm", args: ["lsp"] };
  client = new LanguageClient("ilo", "ilo", server, {
    documentSelector: ["ilo", "json", "yaml"].map((language) => ({ language })),
    initializationOptions: catalog ? { catalog } : {},
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/tools.json") },
    revealOutputChannelOn: RevealOutputChannelOn.Never,
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(`ilo: ${server.command} does not start (${error.message}). Set ilo.path.`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    commands.registerCommand("ilo.restart", restart),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("ilo") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
