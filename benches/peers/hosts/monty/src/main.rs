//! Purchases by a program in Python, in Monty.

use monty::{FunctionCall, MontyRun, RunProgress};
use monty_types::{
    CompileOptions, ExcType, MontyException, MontyObject, NameLookupResult, PrintWriter, ResourceLimits,
    ResourceTracker,
};
use peer_shop::{Host, Order, Shop, job};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

const PROGRAM: &str = "
reserved = reserve(item)
try:
    while computes:
        pass
    charged = charge(payment, amount)
except Exception:
    release(reserved)
    raise
charged
";
const INPUTS: [&str; 4] = ["item", "payment", "amount", "computes"];
const TOOLS: [&str; 3] = ["reserve", "charge", "release"];

struct Purchases {
    shop: Arc<Shop>,
    program: MontyRun,
}

/// Ends once the run is cancelled or its time is over.
async fn stopped(order: &Order, until: Instant) {
    tokio::select! {
        () = order.cancelled() => (),
        () = sleep_until(until) => (),
    }
}

/// An argument that has to be a text.
fn text(call: &FunctionCall, index: usize) -> Result<&str, String> {
    let argument = call.args.arg(index).ok_or("an argument is missing")?;
    argument.as_str().ok_or_else(|| "not a text".into())
}

impl Purchases {
    async fn call(&self, call: &FunctionCall, order: &Order, until: Instant) -> Result<MontyObject, String> {
        match call.function_name.as_str() {
            "reserve" => Ok(MontyObject::string(self.shop.reserve(text(call, 0)?).await?)),
            "charge" => {
                let payment = text(call, 0)?;
                let amount = call.args.arg(1).and_then(|amount| amount.as_float()).ok_or("not a number")?;
                if !order.approve("charge", &format!("{payment:?}, {amount}")).await {
                    return Err("the answer was no".into());
                }
                Ok(MontyObject::string(self.shop.charge(payment, amount, stopped(order, until)).await?))
            }
            "release" => Ok(MontyObject::bool(self.shop.release(text(call, 0)?).await?)),
            other => Err(format!("there is no tool {other}")),
        }
    }

    async fn run(&self, order: &Order) -> Result<String, MontyException> {
        let failed = |why: String| MontyException::new(ExcType::RuntimeError, Some(why));
        let until = Instant::now() + order.limit;
        let inputs = vec![
            MontyObject::string(&*order.item),
            MontyObject::string(&*order.payment),
            MontyObject::float(order.amount),
            MontyObject::bool(order.computes),
        ];
        // Time in which the program computes; it does not include calls. Nothing ends a computation before.
        let limits = ResourceLimits::default().max_turn_duration(order.limit);
        let print = || PrintWriter::Disabled;
        let mut progress = self.program.clone().start(inputs, ResourceTracker::new(limits), print())?;
        loop {
            progress = match progress {
                RunProgress::Complete(value) => {
                    let charge = value.as_ref().as_str().map(str::to_owned);
                    return charge.ok_or_else(|| failed("not a text".into()));
                }
                RunProgress::FunctionCall(mut call) => {
                    let answer = self.call(&call, order, until).await;
                    let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(10));
                    call.tracker_mut().set_max_turn_duration(left);
                    match answer {
                        Ok(answer) => call.resume(answer, print())?,
                        Err(why) => call.resume(failed(why), print())?,
                    }
                }
                RunProgress::NameLookup(lookup) => {
                    let known = TOOLS.contains(&lookup.name.as_str());
                    let found = match known {
                        true => NameLookupResult::Value(MontyObject::function(lookup.name.clone(), None)),
                        false => NameLookupResult::Undefined,
                    };
                    lookup.resume(found, print())?
                }
                RunProgress::OsCall(call) => call.resume(failed("not allowed".into()), print())?,
                RunProgress::ResolveFutures(_) => return Err(failed("no tool is a coroutine".into())),
            };
        }
    }
}

impl Host for Purchases {
    async fn purchase(&self, order: Order) -> Result<String, String> {
        self.run(&order).await.map_err(|error| error.to_string())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let inputs = INPUTS.map(String::from).to_vec();
    let program = MontyRun::new(PROGRAM.into(), "purchase.py", inputs, CompileOptions::default())?;
    let shop = Arc::new(Shop::default());
    job(shop.clone(), Purchases { shop, program }).await;
    Ok(())
}
