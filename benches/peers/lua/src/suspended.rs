//! Measures the memory of coroutines of notify that wait for their first tool.

use crate::{State, program, tools};
use ilo_worker::{mixed, resident};
use mlua_sys::*;
use std::ffi::c_int;

/// The number of coroutines at once, enough to measure the memory of each.
const COUNT: u32 = 100_000;

/// A tool that waits for its answer.
unsafe extern "C-unwind" fn waits(state: *mut lua_State) -> c_int {
    // SAFETY: a function that yields gives back what the yield gives.
    unsafe { lua_yield(state, 0) }
}

/// Continues a coroutine and returns how it stopped.
fn resume(main: State, coroutine: State, arguments: i32) -> c_int {
    let mut results = 0;
    // SAFETY: the function or the answer is on its stack.
    unsafe { lua_resume(coroutine.0, main.0, arguments, &raw mut results) }
}

/// The resident bytes of each; 0 if one of them does not end well.
pub(crate) fn each(source: &str, compiling: bool) -> u64 {
    let main = program(source, &[waits, waits], compiling);
    main.table(0, 0);
    let before = resident();
    let mut all = Vec::new();
    for number in 1..=COUNT {
        // SAFETY: the new state lives as long as the list of the main one that it goes into.
        let coroutine = State(unsafe { lua_newthread(main.0) });
        main.set_item(number as i32);
        main.push(1);
        // SAFETY: both belong to one main state.
        unsafe { lua_xmove(main.0, coroutine.0, 1) };
        coroutine.text("u1");
        coroutine.text("Hello");
        if resume(main, coroutine, 2) != LUA_YIELD {
            return 0;
        }
        all.push(coroutine);
    }
    // SAFETY: collecting is always sound.
    unsafe { lua_gc(main.0, LUA_GCCOLLECT, 0) };
    let each = resident().saturating_sub(before) / u64::from(COUNT);
    for place in mixed(COUNT) {
        let coroutine = all[place as usize];
        tools::push_user_result(coroutine);
        if resume(main, coroutine, 1) != LUA_YIELD {
            return 0;
        }
        tools::push_sent_result(coroutine);
        if resume(main, coroutine, 1) != LUA_OK {
            return 0;
        }
    }
    // SAFETY: nothing uses the state any more.
    unsafe { lua_close(main.0) };
    each
}
