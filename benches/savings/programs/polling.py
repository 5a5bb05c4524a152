def export():
    job = start_export(report=report)
    for _ in range(10):
        status = get_export(id=job["id"])
        if status["state"] == "done":
            return {"ok": status["url"]}
        if status["state"] == "failed":
            return {"error": f"The export failed: {status['reason']}"}
        wait(seconds=5)
    return {"error": "The export takes longer than 50 seconds"}


export()
