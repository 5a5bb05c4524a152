local reserve, charge, release = ...

local function checkout(item, payment_id, amount)
  local reserved = reserve({ item = item })
  if reserved.err then
    return { err = "Reservation failed: " .. reserved.err }
  end
  local id = reserved.ok["reservation-id"]
  local charged = charge({ ["payment-id"] = payment_id, amount = amount })
  if charged.err then
    release({ ["reservation-id"] = id })
    return { err = "Payment failed: " .. charged.err }
  end
  return { ok = { ["order-id"] = id, ["charge-id"] = charged.ok["charge-id"] } }
end

return checkout
