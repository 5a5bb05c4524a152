def submit():
    quota = get_quota(owner=owner)
    left = quota["limit"] - quota["used"]
    if hours > left:
        return {"error": f"{left} hours are left, and the job needs {hours}"}
    try:
        return {"ok": start_job(owner=owner, hours=hours)["id"]}
    except Exception as error:
        return {"error": f"Not started: {error}"}


submit()
