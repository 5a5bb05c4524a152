def patient():
    pause, why = 1, ""
    for _ in range(4):
        try:
            return {"ok": ask(question=question)}
        except Exception as error:
            why = str(error)
            wait(seconds=pause)
            pause *= 2
    return {"error": f"Gave up: {why}"}


patient()
