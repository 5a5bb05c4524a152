-- Real Neovim with the real server: diagnostics, hover, a fix, completion, definition, rename, layout.

local function check(what, condition, found)
  if not condition then
    io.stderr:write("neovim: " .. what .. ": " .. vim.inspect(found) .. "\n")
    vim.cmd("cquit 1")
  end
end

local function wait(what, condition)
  check(what, vim.wait(20000, condition, 20), "no answer in time")
end

local folder = vim.fn.tempname()
vim.fn.mkdir(folder, "p")
vim.fn.writefile({
  '{"tools": {"get-user": {"mock": [], "input_schema": {"properties": {"id": {"type": "string"}}, "required": ["id"]}}}}',
}, folder .. "/tools.json")
vim.fn.writefile({
  "; fn f(id: String) -> any",
  "; Vars: 0=id 1=user",
  "; Tools: 0=get-user",
  "; Fields: 0=id",
  "LET 1 CALL 0 1 0 REF 0",
  "   RET REF 1",
}, folder .. "/a.ilo")
vim.cmd("edit " .. folder .. "/a.ilo")
check("filetype", vim.bo.filetype == "ilo", vim.bo.filetype)

local function ask(method, line, character, more)
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = character },
  }
  local answers = vim.lsp.buf_request_sync(0, method, vim.tbl_extend("force", params, more or {}), 20000)
  for _, answer in pairs(answers or {}) do
    check(method, answer.error == nil, answer.error)
    return answer.result
  end
  check(method, false, answers)
end

wait("diagnostics", function()
  return #vim.diagnostic.get(0) == 1
end)
local found = vim.diagnostic.get(0)[1]
check("diagnostic", found.code == "type-synonym" and found.lnum == 0 and found.col == 11, found)

local range = { start = { line = 0, character = 0 }, ["end"] = { line = 1, character = 0 } }
local actions = ask("textDocument/codeAction", 0, 12, { range = range, context = { diagnostics = {} } })
vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
check("fix", vim.fn.getline(1) == "; fn f(id: text) -> any", vim.fn.getline(1))
wait("no diagnostics", function()
  return #vim.diagnostic.get(0) == 0
end)

local hover = ask("textDocument/hover", 4, 11)
check("hover", hover.contents.value:find("get%-user%(id: text%)") ~= nil, hover)
local places = ask("textDocument/definition", 5, 11)
check("definition", places[1].range.start.line == 4 and places[1].range.start.character == 4, places)
local items = ask("textDocument/completion", 4, 11)
check("completion", items[1].label == "0 get-user", items)
local rename = ask("textDocument/rename", 5, 11, { newName = "account" })
vim.lsp.util.apply_workspace_edit(rename, "utf-16")
check("rename", vim.fn.getline(2) == "; Vars: 0=id 1=account", vim.fn.getline(2))
local edits = ask("textDocument/formatting", 0, 0, { options = { tabSize = 2, insertSpaces = true } })
vim.lsp.util.apply_text_edits(edits, 0, "utf-16")
check("layout", vim.fn.getline(6) == "RET REF 1", vim.fn.getline(6))

print("neovim: diagnostics, a fix, hover, definition, completion, rename and layout work\n")
vim.cmd("qall!")
