(() => {
  const getUser = get_user;
  const sendEmail = send_email;
  return function notify(userId, message) {
    const user = getUser({ "user-id": userId });
    if (user.err !== undefined) return { err: "User lookup failed: " + user.err };
    const found = user.ok;
    if (!found.verified) return { err: "Email not verified" };
    const sent = sendEmail({ email: found.email, subject: "Notification", body: message });
    if (sent.err !== undefined) return { err: "Send failed: " + sent.err };
    return { ok: true };
  };
})()
