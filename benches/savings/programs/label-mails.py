import json

ids = {label["name"]: label["id"] for label in mail_labels()}
done = 0
for mail in mail_unread():
    answer = model_complete(prompt=f"Answer with a JSON list of labels for: {mail['subject']}")
    try:
        names = json.loads(answer)
    except ValueError:
        continue
    for name in names:
        name = name.lower().strip()
        if name not in ids:
            ids[name] = mail_create_label(name=name)["id"]
        mail_add_label(mail=mail["id"], label=ids[name])
    done += 1
done
