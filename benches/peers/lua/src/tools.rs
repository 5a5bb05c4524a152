//! The tools of notify as C functions: with result objects, and in Lua's own style. With `SHOW` they record
//! their arguments; the timed ones do not read them.

use crate::State;
use mlua_sys::{lua_State, lua_pushboolean};
use std::cell::RefCell;
use std::ffi::{CStr, c_int};
use std::fmt::Write;

thread_local! {
    static LOG: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The calls since the last time.
pub(crate) fn log() -> String {
    LOG.take()
}

fn tell(tool: &str, arguments: &[String]) {
    LOG.with_borrow_mut(|log| {
        let _ = write!(log, "{tool}({}) ", arguments.join(", "));
    });
}

/// Fields of the table that is the first argument.
fn fields(state: State, names: &[&CStr]) -> Vec<String> {
    let field = |name: &&CStr| {
        state.get(1, name);
        state.take_text()
    };
    names.iter().map(field).collect()
}

fn places(state: State, count: i32) -> Vec<String> {
    let place = |index| {
        state.push(index);
        state.take_text()
    };
    (1..=count).map(place).collect()
}

fn push_user(state: State) {
    state.table(0, 2);
    state.text("a@b.c");
    state.set(c"email");
    // SAFETY: there is room for the few values of a tool.
    unsafe { lua_pushboolean(state.0, 1) };
    state.set(c"verified");
}

fn push_sent(state: State) {
    state.table(0, 1);
    state.text("m1");
    state.set(c"message-id");
}

/// The answer of the first tool.
pub(crate) fn push_user_result(state: State) {
    state.table(0, 1);
    push_user(state);
    state.set(c"ok");
}

/// The answer of the second tool.
pub(crate) fn push_sent_result(state: State) {
    state.table(0, 1);
    push_sent(state);
    state.set(c"ok");
}

pub(crate) unsafe extern "C-unwind" fn get_user<const SHOW: bool>(state: *mut lua_State) -> c_int {
    let state = State(state);
    if SHOW {
        tell("get-user", &fields(state, &[c"user-id"]));
    }
    push_user_result(state);
    1
}

pub(crate) unsafe extern "C-unwind" fn send_email<const SHOW: bool>(state: *mut lua_State) -> c_int {
    let state = State(state);
    if SHOW {
        tell("send-email", &fields(state, &[c"email", c"subject", c"body"]));
    }
    push_sent_result(state);
    1
}

pub(crate) unsafe extern "C-unwind" fn user_value<const SHOW: bool>(state: *mut lua_State) -> c_int {
    let state = State(state);
    if SHOW {
        tell("get-user", &places(state, 1));
    }
    push_user(state);
    1
}

pub(crate) unsafe extern "C-unwind" fn mail_value<const SHOW: bool>(state: *mut lua_State) -> c_int {
    let state = State(state);
    if SHOW {
        tell("send-email", &places(state, 3));
    }
    push_sent(state);
    1
}
