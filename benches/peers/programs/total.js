(function total(price, quantity, rate) {
  const net = price * quantity;
  const tax = net * rate;
  return net + tax;
})
