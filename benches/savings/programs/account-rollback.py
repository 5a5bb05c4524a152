def set_up_account():
    undo = []
    try:
        user = create_user(name=name)
        undo.append((delete_user, user["id"]))
        mailbox = create_mailbox(user_id=user["id"])
        undo.append((delete_mailbox, mailbox["id"]))
        assign_licence(user_id=user["id"])
    except Exception as error:
        for delete, id in reversed(undo):
            try:
                delete(id=id)
            except Exception:
                pass
        return {"error": str(error)}
    return {"ok": user["id"]}


set_up_account()
