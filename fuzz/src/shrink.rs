//! Finds the shortest and plainest byte string that still shows a bug.

/// Shortens a string as long as it still `shows` the bug.
pub fn shrink(bytes: &[u8], shows: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut best = bytes.to_vec();
    loop {
        let before = best.clone();
        // Long parts first: what one choice decides is often the rest of a block.
        let mut piece = best.len().max(1);
        while piece > 0 {
            let mut at = 0;
            while at < best.len() {
                let end = (at + piece).min(best.len());
                let mut without = best.clone();
                without.drain(at..end);
                let mut plain = best.clone();
                plain[at..end].fill(0);
                if shows(&without) {
                    best = without;
                } else if plain != best && shows(&plain) {
                    best = plain;
                } else {
                    at += piece;
                }
            }
            piece /= 2;
        }
        if best == before {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn what_shows_it_stays() {
        let bytes: Vec<u8> = (0..=255).collect();
        let both = |bytes: &[u8]| bytes.contains(&17) && bytes.contains(&200);
        assert_eq!(shrink(&bytes, both), [17, 200]);
    }
}
