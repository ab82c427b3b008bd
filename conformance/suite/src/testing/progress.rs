//! Shows which requests are put to an implementation, so that a sweep that hangs or dies can be located.

use super::channel::{Message, Sender};
use broadcheck_judge::describe::{describe_signature, summarize_request};
use broadcheck_spec::{Capabilities, Implementation, Inference, Outcome, Request, Signature};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The requests of a process.
#[derive(Default)]
pub(super) struct Progress {
    asked: AtomicU64,
    announcing: AtomicBool,
    out: Option<Arc<Sender>>,
}

impl Progress {
    /// Of a worker, which announces requests here if the order asks for it.
    pub(super) fn to(out: Arc<Sender>) -> Progress {
        Progress { out: Some(out), ..Progress::default() }
    }

    /// A number that grows with every request and answer.
    pub(super) fn count(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Counts something other than a request.
    pub(super) fn step(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn announce(&self, whether: bool) {
        self.announcing.store(whether, Ordering::Relaxed);
    }

    fn announces(&self) -> Option<&Sender> {
        self.out.as_deref().filter(|_| self.announcing.load(Ordering::Relaxed))
    }

    fn asking(&self, request: &Request) {
        self.step();
        if let Some(out) = self.announces() {
            // If the parent has ended, so will this process.
            let _ = out.send(&Message::Asking(summarize_request(request)));
        }
    }
}

/// An implementation whose requests are shown. Every method of the trait is passed on.
pub(super) struct Watched<'a> {
    pub(super) implementation: &'a dyn Implementation,
    pub(super) progress: &'a Progress,
}

impl Implementation for Watched<'_> {
    fn name(&self) -> &str {
        self.implementation.name()
    }

    fn version(&self) -> &str {
        self.implementation.version()
    }

    fn capabilities(&self) -> &Capabilities {
        self.implementation.capabilities()
    }

    fn run(&self, request: &Request) -> Outcome {
        self.progress.asking(request);
        self.implementation.run(request)
    }

    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        self.progress.step();
        if let Some(out) = self.progress.announces() {
            let _ = out.send(&Message::Asking(describe_signature(signature).join(" ")));
        }
        self.implementation.infer(signature)
    }

    fn infer_many(&self, signatures: &[&Signature]) -> Vec<Outcome<Inference>> {
        if self.progress.announces().is_some() {
            return signatures.iter().map(|signature| self.infer(signature)).collect();
        }
        self.progress.step();
        self.implementation.infer_many(signatures)
    }

    fn is_exact(&self) -> bool {
        self.implementation.is_exact()
    }

    fn batch(&self) -> usize {
        if self.progress.announces().is_some() { 1 } else { self.implementation.batch() }
    }

    fn run_many(&self, requests: &[&Request]) -> Vec<Outcome> {
        if self.progress.announces().is_some() {
            return requests.iter().map(|request| self.run(request)).collect();
        }
        self.progress.step();
        self.implementation.run_many(requests)
    }

    fn allowed_ulp(&self) -> u32 {
        self.implementation.allowed_ulp()
    }
}
