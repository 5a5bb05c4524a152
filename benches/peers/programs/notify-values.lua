-- The same in Lua's own manner: tools return a value, or nil and a message; arguments go by position.
local get_user, send_email = ...

local function notify(user_id, message)
  local user, failure = get_user(user_id)
  if not user then
    return nil, "User lookup failed: " .. failure
  end
  if not user.verified then
    return nil, "Email not verified"
  end
  local sent, failed = send_email(user.email, "Notification", message)
  if not sent then
    return nil, "Send failed: " .. failed
  end
  return true
end

return notify
