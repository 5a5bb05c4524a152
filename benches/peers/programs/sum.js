(function sum(numbers) {
  let total = 0;
  for (let i = 0; i < numbers.length; i++) {
    const doubled = numbers[i] * 2;
    if (doubled >= 10) total += doubled;
  }
  return total;
})
