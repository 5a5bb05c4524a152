//! The worker for Lua 5.4, LuaJIT or Luau, whichever it was built with. The argument `interpreter` turns
//! LuaJIT's compiler off.
//!
//! It uses the C API directly: a safe layer would cost as much as the shorter programs. Every call is
//! protected, as in a host. Arguments are ready on the stack of a state that belongs to one item.

mod suspended;
mod tools;

use ilo_worker::Worker;
use mlua_sys::*;
use std::ffi::CStr;
use std::fmt::Write;

const TOTAL: &str = include_str!("../../programs/total.lua");
const SUMMARIES: &str = include_str!("../../programs/summaries.lua");
const NOTIFY: &str = include_str!("../../programs/notify.lua");
const NOTIFY_VALUES: &str = include_str!("../../programs/notify-values.lua");
const CHECKOUT: &str = include_str!("../../programs/checkout.lua");
const SUM: &str = include_str!("../../programs/sum.lua");

/// As many as in the worker of ilo.
const CUSTOMERS: u32 = 1_000;
const NUMBERS: u32 = 10_000;
/// The size of the large source.
const LARGE: usize = 1_000_000;

/// A state. Values in use are on its stack.
#[derive(Clone, Copy)]
struct State(*mut lua_State);

impl State {
    fn new(compiling: bool) -> State {
        // SAFETY: a new state is used by this thread alone.
        let state = unsafe {
            let state = luaL_newstate();
            luaL_openlibs(state);
            State(state)
        };
        if !compiling {
            state.load("if jit then jit.off() end");
            state.call(0);
            state.keep(0);
        }
        state
    }

    fn fail(self) -> ! {
        // SAFETY: an error left its message on the stack.
        let message = unsafe { CStr::from_ptr(lua_tostring(self.0, -1)) };
        panic!("{}", message.to_string_lossy())
    }

    /// Pushes the function of a chunk, source or bytecode.
    fn load(self, chunk: impl AsRef<[u8]>) {
        let chunk = chunk.as_ref();
        #[cfg(feature = "luau")]
        let compiled = if is_bytecode(chunk) { chunk.to_vec() } else { compile(chunk) };
        #[cfg(feature = "luau")]
        let chunk = compiled.as_slice();
        // SAFETY: pointer and length are those of a slice.
        let status = unsafe {
            luaL_loadbufferx(self.0, chunk.as_ptr().cast(), chunk.len(), c"=p".as_ptr(), std::ptr::null())
        };
        if status != LUA_OK {
            self.fail();
        }
    }

    /// Calls the function below this number of arguments, for one result.
    fn call(self, arguments: i32) {
        // SAFETY: the function and its arguments are on the stack.
        if unsafe { lua_pcall(self.0, arguments, 1, 0) } != LUA_OK {
            self.fail();
        }
    }

    fn push(self, index: i32) {
        // SAFETY: callers name a place that is there.
        unsafe { lua_pushvalue(self.0, index) }
    }

    fn keep(self, count: i32) {
        // SAFETY: dropping values is always sound.
        unsafe { lua_settop(self.0, count) }
    }

    fn number(self, value: f64) {
        // SAFETY: there is room for the few values of a program.
        unsafe { lua_pushnumber(self.0, value) }
    }

    fn text(self, value: &str) {
        // SAFETY: pointer and length are those of a slice.
        unsafe { lua_pushlstring(self.0, value.as_ptr().cast(), value.len()) };
    }

    /// Moves the value on top to a field of the table below it.
    fn set(self, field: &CStr) {
        // SAFETY: the table is below the value.
        unsafe { lua_setfield(self.0, -2, field.as_ptr()) }
    }

    /// Pushes an element of the table at a stack index.
    fn get(self, index: i32, field: &CStr) {
        // SAFETY: the table is there.
        unsafe { lua_getfield(self.0, index, field.as_ptr()) };
    }

    fn table(self, items: i32, fields: i32) {
        // SAFETY: there is room for the few values of a program.
        unsafe { lua_createtable(self.0, items, fields) }
    }

    /// Appends the value on top to the list below it.
    fn set_item(self, place: i32) {
        // SAFETY: the table is below the value.
        unsafe { lua_rawseti(self.0, -2, place.into()) }
    }

    /// Pops the value on top as text.
    fn take_text(self) -> String {
        // SAFETY: the text is copied while it is on the stack.
        let text = unsafe {
            let pointer = lua_tostring(self.0, -1);
            if pointer.is_null() {
                "?".to_owned()
            } else {
                CStr::from_ptr(pointer).to_string_lossy().into_owned()
            }
        };
        self.keep(-2);
        text
    }

    /// The number on top; drops it.
    fn take_number(self) -> f64 {
        // SAFETY: reading is sound whatever is there.
        let number = unsafe { lua_tonumber(self.0, -1) };
        self.keep(-2);
        number
    }

    /// Calls the function at the bottom repeatedly with the arguments above it.
    fn repeat(self, arguments: i32, count: u64) {
        for _ in 0..count {
            for index in 1..=arguments + 1 {
                self.push(index);
            }
            self.call(arguments);
            self.keep(arguments + 1);
        }
    }
}

/// Source never begins with so low a byte.
#[cfg(feature = "luau")]
fn is_bytecode(chunk: &[u8]) -> bool {
    chunk.first().is_some_and(|&byte| byte < b'\t')
}

#[cfg(feature = "luau")]
fn compile(source: &[u8]) -> Vec<u8> {
    let mut options = lua_CompileOptions::default();
    options.optimizationLevel = 2;
    options.debugLevel = 0;
    // SAFETY: the source is a slice, the options are the library's own.
    unsafe { luau_compile(source, options) }
}

/// The function of a program, at the bottom of the stack of a state of its own, with its tools.
fn program(source: &str, tools: &[lua_CFunction], compiling: bool) -> State {
    let state = State::new(compiling);
    state.load(source);
    for &tool in tools {
        // SAFETY: tools live as long as the process.
        unsafe { lua_pushcfunction(state.0, tool) };
    }
    state.call(tools.len() as i32);
    state
}

fn runs(worker: &mut Worker, compiling: bool) {
    let state = program(TOTAL, &[], compiling);
    for number in [10.5, 20.5, 0.3] {
        state.number(number);
    }
    worker.item("p1", once(state, 3, |state| state.take_number().to_string()), move |count| {
        state.repeat(3, count);
        count
    });

    let state = program(SUMMARIES, &[], compiling);
    state.table(CUSTOMERS as i32, 0);
    for number in 0..CUSTOMERS {
        state.table(0, 2);
        state.text(&format!("customer {number}"));
        state.set(c"name");
        state.number(f64::from(number % 13) * 100.0 + 0.5);
        state.set(c"spent");
        state.set_item(number as i32 + 1);
    }
    worker.item("p2", once(state, 1, summaries), move |count| {
        state.repeat(1, count);
        count * u64::from(CUSTOMERS)
    });

    let state = program(SUM, &[], compiling);
    state.table(NUMBERS as i32, 0);
    for number in 0..NUMBERS {
        state.number(f64::from(number % 10) + 0.5);
        state.set_item(number as i32 + 1);
    }
    worker.item("p4", once(state, 1, |state| state.take_number().to_string()), move |count| {
        state.repeat(1, count);
        count * u64::from(NUMBERS)
    });

    notify(
        worker,
        "p3",
        NOTIFY,
        compiling,
        [tools::get_user::<false>, tools::send_email::<false>],
        [tools::get_user::<true>, tools::send_email::<true>],
    );
    notify(
        worker,
        "p3-own-manner",
        NOTIFY_VALUES,
        compiling,
        [tools::user_value::<false>, tools::mail_value::<false>],
        [tools::user_value::<true>, tools::mail_value::<true>],
    );
}

/// The result of one call.
fn once(state: State, arguments: i32, show: impl Fn(State) -> String) -> String {
    for index in 1..=arguments + 1 {
        state.push(index);
    }
    state.call(arguments);
    let shown = show(state);
    state.keep(arguments + 1);
    shown
}

fn summaries(state: State) -> String {
    let mut out = String::new();
    for place in 1..=CUSTOMERS {
        // SAFETY: the list is on top.
        unsafe { lua_rawgeti(state.0, -1, place.into()) };
        for field in [c"name", c"level", c"discount"] {
            state.get(-1, field);
            let _ = write!(out, "{} ", state.take_text());
        }
        state.keep(-2);
    }
    out
}

fn notify(
    worker: &mut Worker,
    name: &'static str,
    source: &str,
    compiling: bool,
    fast: [lua_CFunction; 2],
    shown: [lua_CFunction; 2],
) {
    let prepare = |tools: &[lua_CFunction]| {
        let state = program(source, tools, compiling);
        state.text("u1");
        state.text("Hello");
        state
    };
    let shown = once(prepare(&shown), 2, |state| {
        // SAFETY: reading is sound whatever is there.
        let good = unsafe {
            if lua_type(state.0, -1) == LUA_TTABLE {
                state.get(-1, c"ok");
            }
            lua_toboolean(state.0, -1) != 0
        };
        format!("{}{}", tools::log(), if good { "ok" } else { "err" })
    });
    let state = prepare(&fast);
    worker.item(name, shown, move |count| {
        state.repeat(2, count);
        count
    });
}

/// The bytecode of a chunk without debug information.
fn dump(source: &str) -> Vec<u8> {
    #[cfg(feature = "luau")]
    return compile(source.as_bytes());
    #[cfg(not(feature = "luau"))]
    {
        let state = State::new(false);
        state.load("local f = ... return string.dump(f, true)");
        state.load(source);
        state.call(1);
        // SAFETY: the text is copied while it is on the stack.
        unsafe {
            let mut length = 0;
            let pointer = lua_tolstring(state.0, -1, &raw mut length);
            std::slice::from_raw_parts(pointer.cast(), length).to_vec()
        }
    }
}

/// A fresh state, the compiled program, its first run.
fn start(code: &[u8]) -> f64 {
    // SAFETY: a new state is used by this thread alone.
    let state = State(unsafe { luaL_newstate() });
    #[cfg(feature = "luau")]
    // SAFETY: the code is what the compiler gave.
    unsafe {
        luau_load(state.0, c"=p".as_ptr(), code.as_ptr().cast(), code.len(), 0)
    };
    #[cfg(not(feature = "luau"))]
    state.load(code);
    state.call(0);
    for number in [10.5, 20.5, 0.3] {
        state.number(number);
    }
    state.call(3);
    let result = state.take_number();
    // SAFETY: nothing uses the state any more.
    unsafe { lua_close(state.0) };
    result
}

/// A source of about this number of bytes, made of the same programs as in the worker of ilo.
fn large() -> String {
    let mut out = "local programs = {}\n".to_owned();
    let mut number = 0;
    while out.len() < LARGE {
        let body = [NOTIFY, SUMMARIES, SUM][number % 3];
        number += 1;
        let _ = write!(out, "programs[{number}] = function(...)\n{body}end\n");
    }
    out
}

fn loads(worker: &mut Worker) {
    let code = dump(TOTAL);
    worker.item("start", start(&code).to_string(), move |count| {
        for _ in 0..count {
            start(&code);
        }
        count
    });
    let state = State::new(false);
    let mut load = |name, source: String, units: u64| {
        worker.work(name, move |count| {
            for _ in 0..count {
                state.load(&source);
                state.keep(0);
            }
            count * units
        });
    };
    let source = large();
    let bytes = source.len() as u64;
    load("assemble", source, bytes);
    load("assemble-notify", NOTIFY.to_owned(), 1);
    let sizes = [
        ("size-notify", NOTIFY),
        ("size-summaries", SUMMARIES),
        ("size-checkout", CHECKOUT),
        ("size-total", TOTAL),
    ];
    for (name, source) in sizes {
        worker.figure(name, dump(source).len() as u64);
    }
}

fn main() -> std::io::Result<()> {
    let compiling = !std::env::args().any(|argument| argument == "interpreter");
    let name = if cfg!(feature = "lua54") {
        "Lua 5.4"
    } else if cfg!(feature = "luau") {
        "Luau"
    } else if compiling {
        "LuaJIT, compiling"
    } else {
        "LuaJIT, interpreter only"
    };
    let mut worker = Worker::new(name);
    runs(&mut worker, compiling);
    loads(&mut worker);
    worker.finding("size-suspended", move || suspended::each(NOTIFY, compiling));
    worker.serve()
}
