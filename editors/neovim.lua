-- ilo in Neovim: put this into your init.lua, or load it from there with `dofile`.
-- `ilo-asm` must be in PATH; `vim.g.ilo_path` names it otherwise.

vim.filetype.add({ extension = { ilo = "ilo" } })

local function start(buffer)
  local settings = {
    name = "ilo",
    cmd = { vim.g.ilo_path or "ilo-asm", "lsp" },
    root_dir = vim.fn.getcwd(),
  }
  if vim.lsp.start then -- Neovim 0.8 and later
    vim.lsp.start(settings, { bufnr = buffer })
    return
  end
  vim.g.ilo_client = vim.g.ilo_client or vim.lsp.start_client(settings)
  vim.lsp.buf_attach_client(buffer, vim.g.ilo_client)
end

vim.api.nvim_create_autocmd("FileType", {
  -- Of JSON and YAML the server picks the programs, and is silent about the rest.
  pattern = { "ilo", "json", "yaml" },
  callback = function(event)
    if event.match == "ilo" then
      vim.bo[event.buf].commentstring = "; %s"
    end
    start(event.buf)
  end,
})
