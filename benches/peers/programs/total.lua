local function total(price, quantity, rate)
  local net = price * quantity
  local tax = net * rate
  return net + tax
end

return total
