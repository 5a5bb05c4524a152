people = get_team(name=team)
budgets = {}
for person in people:
    if person["level"] not in budgets:
        budgets[person["level"]] = get_budget(level=person["level"])["limit"]
over = []
for person in people:
    spent = sum([item["amount"] for item in get_expenses(id=person["id"], quarter=quarter)])
    limit = budgets[person["level"]]
    if spent > limit:
        over.append({"name": person["name"], "spent": spent, "limit": limit})
over
