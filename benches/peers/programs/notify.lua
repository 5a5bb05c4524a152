-- Tools answer with result objects: { ok = value } or { err = message }.
local get_user, send_email = ...

local function notify(user_id, message)
  local user = get_user({ ["user-id"] = user_id })
  if user.err then
    return { err = "User lookup failed: " .. user.err }
  end
  local found = user.ok
  if not found.verified then
    return { err = "Email not verified" }
  end
  local sent = send_email({ email = found.email, subject = "Notification", body = message })
  if sent.err then
    return { err = "Send failed: " .. sent.err }
  end
  return { ok = true }
end

return notify
