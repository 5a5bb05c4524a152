(() => {
  function classify(spent) {
    if (spent >= 1000) return "gold";
    if (spent >= 500) return "silver";
    return "bronze";
  }
  const discounts = { gold: 20, silver: 10, bronze: 5 };
  return function summaries(customers) {
    const out = [];
    for (let i = 0; i < customers.length; i++) {
      const c = customers[i];
      const level = classify(c.spent);
      out.push({ name: c.name, level, discount: discounts[level] });
    }
    return out;
  };
})()
