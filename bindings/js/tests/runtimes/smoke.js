// The behaviour of the package on every runtime. It needs nothing but the package.

const SOURCE = `{"function": "greet", "input": {"id": "number"}, "output": "text", "steps": [
    {"let": "user", "call": "get_user", "args": {"user_id": "$input.id"}}, {"return": "Hello, $user.name"}]}`;

function expect(holds, what) {
    if (!holds) throw new Error(`the smoke test failed: ${what}`);
}

// A store that lives as long as its process.
function memory() {
    const runs = new Map();
    return {
        read: (name) => runs.get(name),
        write: (name, version, record) => {
            if ((runs.get(name)?.version ?? 0) !== version - 1) return false;
            runs.set(name, { version, record });
            return true;
        },
    };
}

export async function smoke(ilo, { Guide, Session, Vocab }, vm) {
    const tools = new ilo.Tools({ get_user: { execute: async ({ user_id }) => ({ name: `user ${user_id}` }) } });
    let message = "";
    try {
        ilo.build(SOURCE.replace("get_user", "get_usr"), { tools });
    } catch (error) {
        message = error.message;
    }
    expect(message.includes("error[unknown-tool]") && message.includes("get_user"), `a wrong source: ${message}`);
    const program = ilo.build(SOURCE, { tools });
    const outcome = await program.run({ id: 7 });
    expect(outcome.value === "Hello, user 7" && outcome.fuel > 0, `a run: ${JSON.stringify(outcome)}`);
    const asks = { get_user: { execute: () => { throw new ilo.Suspend("later"); } } };
    const waits = await program.run({ id: 7 }, { tools: asks });
    const resumed = await ilo.load(program.toBytes()).resume(waits.snapshot, { tools, answer: { name: "Ada" } });
    expect(resumed.value === "Hello, Ada", "a snapshot");
    const store = memory();
    const stored = await program.run({ id: 7 }, { tools: asks, store, name: "x" });
    const decided = await ilo.resume({ store, name: "x" }, { tools }, { call: stored.call.number, answer: { name: "Bob" } });
    expect(decided.value === "Hello, Bob", "a store");
    const elsewhere = await vm.load(program.toBytes()).run({ id: 7 }, { tools });
    expect(elsewhere.value === outcome.value && elsewhere.fuel === outcome.fuel, "a run in ilo-vm/vm");
    const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
    const vocab = new Vocab(["</s>", "RET", " MUL", "x", ...bytes], 0);
    const guide = new Guide(new Session("double(n: number) -> number"), vocab);
    expect((guide.mask()[0] & 0b1111) === 0b10, "the mask of a guide");
    return `${outcome.value}, fuel ${outcome.fuel}`;
}
