// A person who signs in without a browser: `node browser.mjs ADDRESS` follows redirects with cookies, and fills in the
// forms of oidc-provider's pages for trying things out, until another host answers.
const cookies = new Map();

async function open(address, options = {}) {
    const response = await fetch(address, {
        ...options, redirect: "manual",
        headers: { ...options.headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    for (const line of response.headers.getSetCookie()) {
        const [name, value] = line.split(";")[0].split("=");
        if (value) cookies.set(name, value);
        else cookies.delete(name);
    }
    return response;
}

let address = process.argv[2];
const first = new URL(address).host;
let options;
for (let steps = 0; steps < 20; steps += 1) {
    const response = await open(address, options);
    options = undefined;
    const to = response.headers.get("location");
    if (to) {
        address = new URL(to, address).href;
        continue;
    }
    const page = await response.text();
    if (new URL(address).host !== first) {
        console.log(response.status, page.replace(/<[^>]*>/g, " ").trim().slice(0, 100));
        process.exit(response.ok ? 0 : 1);
    }
    const form = page.match(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/);
    if (!form) throw new Error(`${response.status} ${address}: ${page.slice(0, 400)}`);
    const fields = [...form[2].matchAll(/<input[^>]*name="([^"]*)"(?:[^>]*value="([^"]*)")?/g)];
    const filled = fields.map(([, name, value]) => [name, value ?? "ada"]);
    address = new URL(form[1], address).href;
    options = { method: "POST", body: new URLSearchParams(filled) };
}
throw new Error("no end of redirects");
