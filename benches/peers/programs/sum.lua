local function sum(numbers)
  local total = 0
  for i = 1, #numbers do
    local doubled = numbers[i] * 2
    if doubled >= 10 then
      total = total + doubled
    end
  end
  return total
end

return sum
