//! Answers of the kube-apiserver that are kept for a short time, as the original's caches do.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How many answers are kept at most; client-go's caches are as large.
const CAPACITY: usize = 8192;

/// Answers by question, each until its time is over.
#[derive(Debug)]
pub struct Verdicts<Q, A>(Mutex<BTreeMap<Q, (Instant, A)>>);

impl<Q: Ord, A: Clone> Verdicts<Q, A> {
    /// Nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The answer to a question, if it is still kept.
    #[must_use]
    pub fn get(&self, question: &Q) -> Option<A> {
        let kept = self.0.lock();
        let (end, answer) = kept.get(question)?;
        (Instant::now() < *end).then(|| answer.clone())
    }

    /// Keeps an answer for this time.
    pub fn keep(&self, question: Q, answer: A, time: Duration) {
        let now = Instant::now();
        let mut kept = self.0.lock();
        if kept.len() >= CAPACITY {
            kept.retain(|_, (end, _)| now < *end);
        }
        if kept.len() >= CAPACITY {
            kept.clear();
        }
        kept.insert(question, (now + time, answer));
    }
}

impl<Q: Ord, A: Clone> Default for Verdicts<Q, A> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_kept_for_its_time() {
        let verdicts = Verdicts::new();
        verdicts.keep("a", true, Duration::from_secs(10));
        verdicts.keep("never", true, Duration::ZERO);
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!(
            (verdicts.get(&"a"), verdicts.get(&"never"), verdicts.get(&"b")),
            (Some(true), None, None)
        );
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(verdicts.get(&"a"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_a_bound() {
        let verdicts = Verdicts::new();
        for question in 0..=CAPACITY {
            verdicts.keep(question, (), Duration::from_secs(10));
        }
        assert_eq!((verdicts.get(&0), verdicts.get(&CAPACITY)), (None, Some(())));
    }
}
