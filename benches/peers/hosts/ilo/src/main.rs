//! Purchases by a program in ilo's instruction text.

use ilo_host::interrupt::Interrupt;
use ilo_host::run::{AsyncOptions, Options, run_async};
use ilo_host::tools::consent::Consent;
use ilo_host::tools::{AsyncRequest, Policy, Tools};
use ilo_vm::{Limits, Program};
use peer_shop::{Host, Order, Shop, job};
use serde::Deserialize;
use serde_json::json;
use std::error::Error;
use std::sync::Arc;

const PROGRAM: &str = "
; fn purchase(item: text, payment: text, amount: number, computes: bool) -> result text, text
; Vars: 0=item 1=payment 2=amount 3=computes 4=reserved 5=charged 6=i 7=j 8=sum
; Tools: 0=reserve 1=charge 2=release
; Fields: 0=item 1=payment 2=amount 3=reservation
LET 4 CALL 0 1 0 REF 0
ROLLBACK CALL 2 1 3 REF 4
LET 8 LIT 1 0
IF REF 3 1
  FOR 6 RANGE LIT 1 1000000 1
    FOR 7 RANGE LIT 1 1000000 1
      LET 8 ADD REF 8 LIT 1 1
LET 5 CALL 1 2 1 REF 1 2 REF 2
RET_OK REF 5
";

#[derive(Deserialize)]
struct Reserve {
    item: String,
}

#[derive(Deserialize)]
struct Charge {
    payment: String,
    amount: f64,
}

#[derive(Deserialize)]
struct Release {
    reservation: String,
}

struct Purchases {
    tools: Arc<Tools>,
    program: Program,
}

fn tools(shop: &Arc<Shop>) -> Tools {
    let mut tools = Tools::new();
    let service = shop.clone();
    tools.add_async("reserve", Policy::default(), move |args: Reserve, _: AsyncRequest| {
        let shop = service.clone();
        async move { shop.reserve(&args.item).await }
    });
    let service = shop.clone();
    let asks = Policy { confirm: true, ..Policy::default() };
    tools.add_async("charge", asks, move |args: Charge, request: AsyncRequest| {
        let shop = service.clone();
        async move { shop.charge(&args.payment, args.amount, request.cancelled()).await }
    });
    let service = shop.clone();
    tools.add_async("release", Policy::default(), move |args: Release, _: AsyncRequest| {
        let shop = service.clone();
        async move { shop.release(&args.reservation).await }
    });
    tools
}

impl Host for Purchases {
    async fn purchase(&self, order: Order) -> Result<String, String> {
        let cancel = Interrupt::default();
        // The time of a run is its limit here, not its fuel.
        let limits = Limits { fuel: u64::MAX, ..Limits::default() };
        let options = Options { limits, timeout: order.limit, cancel: cancel.clone(), ..Options::default() };
        let input = json!({
            "item": order.item, "payment": order.payment, "amount": order.amount, "computes": order.computes,
        });
        let order = Arc::new(order);
        let person = order.clone();
        let options = AsyncOptions::new(&self.tools).options(options).ask(move |asked| {
            let person = person.clone();
            async move {
                match person.approve(&asked.tool, &asked.arguments.to_string()).await {
                    true => Consent::Given,
                    false => Consent::Refused("the answer was no".into()),
                }
            }
        });
        let mut run = std::pin::pin!(run_async(&self.program, &input, options));
        let finished = tokio::select! {
            finished = &mut run => finished,
            () = order.cancelled() => {
                cancel.set();
                run.await
            }
        };
        let finished = finished.map_err(|problems| problems.to_string())?;
        let outcome = finished.outcome().ok_or("interrupted")?;
        let charge = outcome.ok().and_then(|value| value.as_text().map(str::to_owned));
        charge.ok_or_else(|| outcome.to_string())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (built, found) = ilo_asm::compile::compile(PROGRAM, &ilo_asm::compile::Options::default());
    let program = Program::new(built.ok_or(found)?)?;
    let shop = Arc::new(Shop::default());
    let tools = Arc::new(tools(&shop));
    job(shop, Purchases { tools, program }).await;
    Ok(())
}
