def escalate():
    for person in on_call(team=team):
        try:
            answer = page(person=person["name"], text=alert)
        except Exception:
            continue
        if answer["accepted"]:
            assign(alert=alert, person=person["name"])
            return {"ok": person["name"]}
    page(person="manager", text=f"Nobody of {team} takes over: {alert}")
    return {"error": f"Nobody of {team} takes over"}


escalate()
