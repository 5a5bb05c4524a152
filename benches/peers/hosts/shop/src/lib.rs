//! The job that a host of each engine does: purchases in a shop whose services are asynchronous, with the
//! approval of a person, a cancel and a time limit. What was reserved for a purchase that fails is to be
//! released.

use std::fs;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::LocalSet;
use tokio::time::sleep;

/// Runs that are measured, one after another.
const RUNS: u32 = 10_000;
/// Runs that wait at the same time.
const AT_ONCE: u32 = 10_000;
/// When a run is cancelled, or its time is over.
const SOON: Duration = Duration::from_millis(200);

/// The services.
#[derive(Default)]
pub struct Shop {
    reserved: AtomicI64,
}

impl Shop {
    pub async fn reserve(&self, item: &str) -> Result<String, String> {
        self.reserved.fetch_add(1, Ordering::SeqCst);
        Ok(format!("r-{item}"))
    }

    /// The payment `slow` takes a minute, unless it has to stop.
    pub async fn charge(
        &self,
        payment: &str,
        amount: f64,
        stop: impl Future<Output = ()>,
    ) -> Result<String, String> {
        match payment {
            "slow" => tokio::select! {
                () = sleep(Duration::from_secs(60)) => Err("nobody waits that long".into()),
                () = stop => Err("stopped before the bank was asked".into()),
            },
            payment if amount < 1000.0 => Ok(format!("c-{payment}")),
            _ => Err("card declined".into()),
        }
    }

    pub async fn release(&self, _reservation: &str) -> Result<bool, String> {
        self.reserved.fetch_sub(1, Ordering::SeqCst);
        Ok(true)
    }
}

/// What a run is given.
#[derive(Clone)]
pub struct Order {
    pub item: String,
    pub payment: String,
    pub amount: f64,
    /// Whether the person who is asked about the charge agrees.
    pub approved: bool,
    pub limit: Duration,
    /// Whether the program computes for hours before it charges.
    pub computes: bool,
    cancel: watch::Receiver<bool>,
}

impl Order {
    /// Ends once the run is cancelled.
    pub async fn cancelled(&self) {
        if self.cancel.clone().wait_for(|cancelled| *cancelled).await.is_err() {
            std::future::pending().await
        }
    }

    pub fn is_cancelled(&self) -> bool {
        *self.cancel.borrow()
    }

    /// Asks the person.
    pub async fn approve(&self, _tool: &str, _arguments: &str) -> bool {
        self.approved
    }
}

/// A host. Its runs stay on one thread, because those of Monty must.
pub trait Host: 'static {
    /// Runs the program once: the number of the charge, or why there is none.
    fn purchase(&self, order: Order) -> impl Future<Output = Result<String, String>>;
}

/// Lets a host do its job, and prints the results and what they took, as lines of `name: text`.
pub async fn job<H: Host>(shop: Arc<Shop>, host: H) {
    LocalSet::new().run_until(work(shop, Rc::new(host))).await;
}

async fn work<H: Host>(shop: Arc<Shop>, host: Rc<H>) {
    let (sender, cancel) = watch::channel(false);
    let order = Order {
        item: "lamp".into(),
        payment: "p1".into(),
        amount: 12.5,
        approved: true,
        limit: Duration::from_secs(600),
        computes: false,
        cancel,
    };
    let slow = Order { payment: "slow".into(), ..order.clone() };
    let computing = Order { computes: true, ..order.clone() };
    let show = |name: &str, ended: Result<String, String>, late: Option<Duration>| {
        let left = shop.reserved.swap(0, Ordering::SeqCst);
        let late = late.map_or(String::new(), |late| format!("{:.1} ms late; ", late.as_secs_f64() * 1e3));
        let said =
            ended.map_or_else(|why| why.lines().last().unwrap_or_default().to_owned(), |charge| charge);
        println!("{name}: {late}{left} reserved; {said}");
    };

    show("approved", host.purchase(order.clone()).await, None);
    show("refused", host.purchase(Order { approved: false, ..order.clone() }).await, None);
    let expensive = Order { amount: 5000.0, ..order.clone() };
    show("declined", host.purchase(expensive).await, None);
    for (name, order) in [("too late", &slow), ("computing too long", &computing)] {
        let begun = Instant::now();
        let ended = host.purchase(Order { limit: SOON, ..order.clone() }).await;
        show(name, ended, Some(begun.elapsed().saturating_sub(SOON)));
    }
    for (name, order) in [("cancelled", slow.clone()), ("cancelled while it computes", computing)] {
        let (sender, cancel) = watch::channel(false);
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(SOON);
            let _ = sender.send(true);
            Instant::now()
        });
        // A host that does not see the cancel ends by its limit.
        let ended = host.purchase(Order { cancel, limit: SOON * 5, ..order }).await;
        let now = Instant::now();
        let late = now.saturating_duration_since(canceller.join().expect("a thread that sleeps"));
        show(name, ended, Some(late));
    }

    for _ in 0..RUNS / 10 {
        let _ = host.purchase(order.clone()).await;
    }
    let before = processor_time();
    for _ in 0..RUNS {
        let ended = host.purchase(order.clone()).await;
        assert_eq!(ended.as_deref(), Ok("c-p1"));
    }
    println!("a run: {:.1} µs", (processor_time() - before).as_secs_f64() * 1e6 / f64::from(RUNS));

    shop.reserved.store(0, Ordering::SeqCst);
    let (memory, before) = (resident(), processor_time());
    let mut runs = Vec::new();
    for _ in 0..AT_ONCE {
        let (host, order) = (Rc::clone(&host), slow.clone());
        runs.push(tokio::task::spawn_local(async move { host.purchase(order).await }));
    }
    while shop.reserved.load(Ordering::SeqCst) < i64::from(AT_ONCE) {
        tokio::task::yield_now().await;
    }
    sleep(Duration::from_millis(100)).await;
    println!("a run that waits: {:.1} kB", (resident() - memory) / 1e3 / f64::from(AT_ONCE));
    let _ = sender.send(true);
    for run in runs {
        let _ = run.await;
    }
    let took = processor_time() - before;
    println!("such a run, cancelled: {:.1} µs", took.as_secs_f64() * 1e6 / f64::from(AT_ONCE));
}

/// The processor time of this process.
fn processor_time() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").expect("Linux");
    let spent = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("schedstat")).ok());
    Duration::from_nanos(spent.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum())
}

/// The resident memory of this process, in bytes.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") * 1024.0
}
