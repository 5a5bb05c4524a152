"""The four programs in Python; runs in CPython and in Monty."""


def total(price, quantity, rate):
    net = price * quantity
    tax = net * rate
    return net + tax


def classify(spent):
    if spent >= 1000:
        return "gold"
    if spent >= 500:
        return "silver"
    return "bronze"


DISCOUNTS = {"gold": 20, "silver": 10, "bronze": 5}


def summaries(customers):
    out = []
    for c in customers:
        level = classify(c["spent"])
        out.append({"name": c["name"], "level": level, "discount": DISCOUNTS[level]})
    return out


def notify(user_id, message):
    user = get_user({"user-id": user_id})
    if "err" in user:
        return {"err": "User lookup failed: " + user["err"]}
    found = user["ok"]
    if not found["verified"]:
        return {"err": "Email not verified"}
    sent = send_email({"email": found["email"], "subject": "Notification", "body": message})
    if "err" in sent:
        return {"err": "Send failed: " + sent["err"]}
    return {"ok": True}


def sum_large(numbers):
    result = 0.0
    for x in numbers:
        doubled = x * 2
        if doubled >= 10:
            result += doubled
    return result
