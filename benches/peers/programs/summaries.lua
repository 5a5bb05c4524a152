local function classify(spent)
  if spent >= 1000 then
    return "gold"
  end
  if spent >= 500 then
    return "silver"
  end
  return "bronze"
end

local discounts = { gold = 20, silver = 10, bronze = 5 }

local function summaries(customers)
  local out = {}
  for i = 1, #customers do
    local c = customers[i]
    local level = classify(c.spent)
    out[i] = { name = c.name, level = level, discount = discounts[level] }
  end
  return out
end

return summaries
