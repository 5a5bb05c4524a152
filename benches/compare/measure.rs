//! Compares the results of engines, then measures them in alternating batches.

use crate::engine::Engine;
use std::collections::BTreeMap;

/// The duration of a batch in ns: long compared with the cost of a line, short compared with what other jobs
/// do on the machine.
const BATCH: f64 = 20e6;
/// The duration in ns from which a batch shows how long others take.
const TELLING: f64 = 2e6;

/// The spread of measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) lower: f64,
    pub(crate) median: f64,
    pub(crate) upper: f64,
}

impl Spread {
    fn of(mut samples: Vec<f64>) -> Spread {
        samples.sort_by(f64::total_cmp);
        let at = |quarter: usize| samples.get((samples.len() - 1) * quarter / 4).copied().unwrap_or(f64::NAN);
        Spread { least: at(0), lower: at(1), median: at(2), upper: at(3) }
    }
}

/// The figures: ns for each unit, by item and engine, or a figure that does not vary.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<(String, &'static str), Spread>);

impl Figures {
    pub(crate) fn get(&self, item: &str, engine: &'static str) -> Option<Spread> {
        self.0.get(&(item.to_owned(), engine)).copied()
    }

    /// A figure that does not vary.
    pub(crate) fn put_one(&mut self, item: &str, engine: &'static str, value: f64) {
        self.put(item, engine, Spread::of(vec![value]));
    }

    fn put(&mut self, item: &str, engine: &'static str, spread: Spread) {
        self.0.insert((item.to_owned(), engine), spread);
    }
}

/// Whether the figure of an item does not vary.
fn is_figure(item: &str) -> bool {
    item.starts_with("size-")
}

fn items(engines: &[Engine]) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for item in engines.iter().flat_map(|engine| &engine.items) {
        if !items.contains(item) {
            items.push(item.clone());
        }
    }
    items
}

/// Compares the results of every engine with those of ilo.
pub(crate) fn agree(engines: &mut [Engine]) -> Result<(), String> {
    let Some((ours, peers)) = engines.split_first_mut() else { return Ok(()) };
    for peer in peers {
        for item in peer.items.clone() {
            if is_figure(&item) || !ours.has(&item) {
                continue;
            }
            if let (Some(expected), Some(found)) = (ours.show(&item)?, peer.show(&item)?)
                && expected.trim() != found.trim()
            {
                let same =
                    expected.bytes().zip(found.bytes()).take_while(|(left, right)| left == right).count();
                let part =
                    |text: &str| text.chars().skip(same.saturating_sub(20)).take(60).collect::<String>();
                return Err(format!(
                    "{} does not agree on {item}: `…{}` where ilo has `…{}`",
                    peer.key,
                    part(&found),
                    part(&expected)
                ));
            }
        }
    }
    Ok(())
}

/// Measures every item of every engine.
pub(crate) fn all(engines: &mut [Engine], rounds: u32) -> Result<Figures, String> {
    let mut figures = Figures::default();
    for item in items(engines) {
        eprintln!("measuring {item}");
        let mut sharing: Vec<(&mut Engine, u64, Vec<f64>)> = Vec::new();
        for engine in engines.iter_mut().filter(|engine| engine.has(&item)) {
            if is_figure(&item) {
                let value = engine.figure(&item)?;
                figures.put_one(&item, engine.key, value);
            } else {
                let passes = passes(engine, &item)?;
                sharing.push((engine, passes, Vec::new()));
            }
        }
        for _ in 0..rounds {
            for (engine, passes, samples) in &mut sharing {
                let (took, units) = engine.run(&item, *passes)?;
                samples.push(took / units);
            }
        }
        for (engine, _, samples) in sharing {
            figures.put(&item, engine.key, Spread::of(samples));
        }
    }
    Ok(figures)
}

/// The number of passes in a batch. Finding it warms the engine up.
fn passes(engine: &mut Engine, item: &str) -> Result<u64, String> {
    let mut passes = 1_u64;
    loop {
        let (took, _) = engine.run(item, passes)?;
        if took >= BATCH {
            return Ok(passes);
        }
        if took >= TELLING {
            let mut most = passes;
            // A few doublings: no conversion between floats and integers is needed.
            let mut expected = took;
            while expected < BATCH {
                most = most.saturating_add(passes);
                expected += took;
            }
            return Ok(most);
        }
        passes = passes.saturating_mul(4);
    }
}
