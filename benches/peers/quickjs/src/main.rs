//! The worker for QuickJS-ng, through its C API.

use ilo_worker::Worker;
use rquickjs_sys::*;
use std::ffi::{CStr, c_int};
use std::fmt::Write;

const TOTAL: &str = include_str!("../../programs/total.js");
const SUMMARIES: &str = include_str!("../../programs/summaries.js");
const NOTIFY: &str = include_str!("../../programs/notify.js");
const SUM: &str = include_str!("../../programs/sum.js");
const SHOW: &str = include_str!("../../programs/show.js");

/// A context in a runtime of its own. Its values live as long as the process, or until `free`.
#[derive(Clone, Copy)]
struct Context(*mut JSContext);

impl Context {
    fn new() -> Context {
        // SAFETY: a new runtime is used by this thread alone.
        Context(unsafe { JS_NewContext(JS_NewRuntime()) })
    }

    fn free(self) {
        // SAFETY: callers have released every value.
        unsafe {
            let runtime = JS_GetRuntime(self.0);
            JS_FreeContext(self.0);
            JS_FreeRuntime(runtime);
        }
    }

    fn eval(self, source: &str) -> JSValue {
        let text = format!("{source}\0");
        // SAFETY: the text ends with a zero that its length does not count.
        let value = unsafe {
            JS_Eval(self.0, text.as_ptr().cast(), source.len() as _, c"p.js".as_ptr(), JS_EVAL_TYPE_GLOBAL as c_int)
        };
        self.good(value)
    }

    fn good(self, value: JSValue) -> JSValue {
        // SAFETY: reading a tag is sound.
        if unsafe { JS_IsException(value) } {
            // SAFETY: there is an exception.
            panic!("{}", self.text_of(unsafe { JS_GetException(self.0) }));
        }
        value
    }

    #[inline]
    fn call(self, function: JSValue, arguments: &mut [JSValue]) -> JSValue {
        // SAFETY: the values belong to this context; arguments are borrowed.
        self.good(unsafe {
            JS_Call(self.0, function, JS_UNDEFINED, arguments.len() as c_int, arguments.as_mut_ptr())
        })
    }

    fn release(self, value: JSValue) {
        // SAFETY: callers own the value.
        unsafe { JS_FreeValue(self.0, value) }
    }

    fn text(self, text: &str) -> JSValue {
        // SAFETY: pointer and length are those of a slice.
        unsafe { JS_NewStringLen(self.0, text.as_ptr().cast(), text.len() as _) }
    }

    fn object(self, fields: &[(&CStr, JSValue)]) -> JSValue {
        // SAFETY: the object takes the values.
        unsafe {
            let object = JS_NewObject(self.0);
            for &(name, value) in fields {
                JS_SetPropertyStr(self.0, object, name.as_ptr(), value);
            }
            object
        }
    }

    fn list(self, values: impl IntoIterator<Item = JSValue>) -> JSValue {
        // SAFETY: the list takes the values.
        unsafe {
            let list = JS_NewArray(self.0);
            for (place, value) in (0..).zip(values) {
                JS_SetPropertyUint32(self.0, list, place, value);
            }
            list
        }
    }

    fn text_of(self, value: JSValue) -> String {
        // SAFETY: the text is copied before it is released.
        unsafe {
            let pointer = JS_ToCString(self.0, value);
            let text = CStr::from_ptr(pointer).to_string_lossy().into_owned();
            JS_FreeCString(self.0, pointer);
            text
        }
    }

    fn global(self, name: &CStr, function: JSCFunction) {
        // SAFETY: the global object takes the function.
        unsafe {
            let global = JS_GetGlobalObject(self.0);
            let made =
                JS_NewCFunction2(self.0, function, name.as_ptr(), 1, JSCFunctionEnum_JS_CFUNC_generic, 0);
            JS_SetPropertyStr(self.0, global, name.as_ptr(), made);
            self.release(global);
        }
    }
}

fn number(value: f64) -> JSValue {
    JS_NewFloat64(value)
}

unsafe extern "C" fn get_user(context: *mut JSContext, _: JSValue, _: c_int, _: *mut JSValue) -> JSValue {
    let context = Context(context);
    let user = context.object(&[(c"email", context.text("a@b.c")), (c"verified", JS_TRUE)]);
    context.object(&[(c"ok", user)])
}

unsafe extern "C" fn send_email(context: *mut JSContext, _: JSValue, _: c_int, _: *mut JSValue) -> JSValue {
    let context = Context(context);
    let sent = context.object(&[(c"message-id", context.text("m1"))]);
    context.object(&[(c"ok", sent)])
}

/// What notify does, as reported by tools that wrap the real ones.
fn shown_notify() -> String {
    let context = Context::new();
    context.global(c"user_tool", Some(get_user));
    context.global(c"mail_tool", Some(send_email));
    let telling = "var log = '';
        var get_user = (a) => { log += `get-user(${a['user-id']}) `; return user_tool(a); };
        var send_email = (a) => { log += `send-email(${a.email}, ${a.subject}, ${a.body}) `; return mail_tool(a); };";
    context.eval(telling);
    let outcome = context.eval(&format!("({NOTIFY})('u1', 'Hello').ok ? log + 'ok' : log + 'err'"));
    context.text_of(outcome)
}

/// Calls a function repeatedly.
fn item(worker: &mut Worker, name: &'static str, shown: String, call: Call, units: u64) {
    let Call { context, function, mut arguments } = call;
    worker.item(name, shown, move |count| {
        for _ in 0..count {
            context.release(context.call(function, &mut arguments));
        }
        count * units
    });
}

struct Call {
    context: Context,
    function: JSValue,
    arguments: Vec<JSValue>,
}

impl Call {
    fn once(&mut self) -> String {
        let value = self.context.call(self.function, &mut self.arguments);
        self.context.text_of(value)
    }
}

fn start() -> String {
    let context = Context::new();
    let function = context.eval(TOTAL);
    let value = context.call(function, &mut [10.5, 20.5, 0.3].map(number));
    let shown = context.text_of(value);
    context.release(function);
    context.free();
    shown
}

fn main() -> std::io::Result<()> {
    let mut worker = Worker::new("QuickJS-ng");
    let context = Context::new();
    let arguments = [10.5, 20.5, 0.3].map(number).to_vec();
    let mut call = Call { context, function: context.eval(TOTAL), arguments };
    item(&mut worker, "p1", call.once(), call, 1);

    let context = Context::new();
    let customers = context.list((0..1_000_u32).map(|place| {
        let mut name = String::new();
        let _ = write!(name, "customer {place}");
        let spent = number(f64::from(place % 13) * 100.0 + 0.5);
        context.object(&[(c"name", context.text(&name)), (c"spent", spent)])
    }));
    let call = Call { context, function: context.eval(SUMMARIES), arguments: vec![customers] };
    let made = context.call(call.function, &mut [customers]);
    let shown = context.text_of(context.call(context.eval(SHOW), &mut [made]));
    item(&mut worker, "p2", shown, call, 1_000);

    let context = Context::new();
    context.global(c"get_user", Some(get_user));
    context.global(c"send_email", Some(send_email));
    let arguments = vec![context.text("u1"), context.text("Hello")];
    let call = Call { context, function: context.eval(NOTIFY), arguments };
    item(&mut worker, "p3", shown_notify(), call, 1);

    let context = Context::new();
    let numbers = context.list((0..10_000_u32).map(|place| number(f64::from(place % 10) + 0.5)));
    let mut call = Call { context, function: context.eval(SUM), arguments: vec![numbers] };
    item(&mut worker, "p4", call.once(), call, 10_000);

    worker.item("start", start(), |count| {
        for _ in 0..count {
            std::hint::black_box(start());
        }
        count
    });
    worker.serve()
}
