//! Purchases by a program in Lua.

use mlua::chunk::ChunkMode;
use mlua::debug::HookTriggers;
use mlua::{Error, Function, Lua, LuaOptions, StdLib, Table, VmState};
use peer_shop::{Host, Order, Shop, job};
use std::future::Future;
use std::sync::Arc;
use tokio::time::{Instant, sleep_until};

const PROGRAM: &str = "
local input = ...
local reserved = reserve(input.item)
local ok, charged = pcall(function()
  while input.computes do end
  return charge(input.payment, input.amount)
end)
if not ok then
  release(reserved)
  error(charged, 0)
end
return charged
";
const MEMORY: usize = 16 << 20;
/// Instructions between two looks at the clock.
const SLICE: u32 = 10_000;

struct Purchases {
    shop: Arc<Shop>,
    bytecode: Vec<u8>,
}

/// What ends a run early.
#[derive(Clone)]
struct Stop {
    order: Arc<Order>,
    until: Instant,
}

impl Stop {
    fn why(&self) -> Option<&'static str> {
        if self.order.is_cancelled() {
            return Some("cancelled");
        }
        (Instant::now() >= self.until).then_some("timed out")
    }

    async fn wait(self) {
        tokio::select! {
            () = self.order.cancelled() => (),
            () = sleep_until(self.until) => (),
        }
    }
}

/// The answer of a tool as Lua takes it.
async fn answer<T>(call: impl Future<Output = Result<T, String>>) -> mlua::Result<T> {
    call.await.map_err(Error::runtime)
}

impl Purchases {
    fn tools(&self, lua: &Lua, stop: &Stop) -> mlua::Result<()> {
        let globals = lua.globals();
        let shop = self.shop.clone();
        let reserve = move |_, item: String| {
            let shop = shop.clone();
            async move { answer(shop.reserve(&item)).await }
        };
        globals.set("reserve", lua.create_async_function(reserve)?)?;
        let (shop, stop) = (self.shop.clone(), stop.clone());
        let charge = move |_, (payment, amount): (String, f64)| {
            let (shop, stop) = (shop.clone(), stop.clone());
            async move {
                if !stop.order.approve("charge", &format!("{payment:?}, {amount}")).await {
                    return Err(Error::runtime("the answer was no"));
                }
                answer(shop.charge(&payment, amount, stop.wait())).await
            }
        };
        globals.set("charge", lua.create_async_function(charge)?)?;
        let shop = self.shop.clone();
        let release = move |_, reservation: String| {
            let shop = shop.clone();
            async move { answer(shop.release(&reservation)).await }
        };
        globals.set("release", lua.create_async_function(release)?)
    }

    async fn run(&self, order: Order) -> mlua::Result<String> {
        // A state for each run, so that none sees what another one has left.
        let lua = Lua::new_with(StdLib::STRING | StdLib::TABLE | StdLib::MATH, LuaOptions::default())?;
        lua.set_memory_limit(MEMORY).or_else(|error| match error {
            Error::MemoryControlNotAvailable => Ok(0), // LuaJIT
            error => Err(error),
        })?;
        let input: Table = lua.create_table()?;
        input.set("item", order.item.as_str())?;
        input.set("payment", order.payment.as_str())?;
        input.set("amount", order.amount)?;
        input.set("computes", order.computes)?;
        let until = Instant::now() + order.limit;
        let stop = Stop { order: Arc::new(order), until };
        self.tools(&lua, &stop)?;
        // A program that catches the error may go on for as long again.
        let look = move |_: &Lua, _: &mlua::debug::Debug<'_>| match stop.why() {
            Some(why) => Err(Error::runtime(why)),
            None => Ok(VmState::Continue),
        };
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(SLICE), look)?;
        let program: Function = lua.load(&self.bytecode[..]).set_mode(ChunkMode::Binary).into_function()?;
        program.call_async(input).await
    }
}

impl Host for Purchases {
    async fn purchase(&self, order: Order) -> Result<String, String> {
        self.run(order).await.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> mlua::Result<()> {
    let bytecode = Lua::new().load(PROGRAM).into_function()?.dump(true);
    let shop = Arc::new(Shop::default());
    job(shop.clone(), Purchases { shop, bytecode }).await;
    Ok(())
}
