use super::*;

/// Of a checkout there, whose index does not tell.
fn doubt(work: &str, faith: Faith, doubt: Doubt) -> (Source, Doubt) {
    let (work, index) = (Some(work.into()), Path::new("/g").join(work).join("index"));
    (Source { work, index, faith }, doubt)
}

#[test]
fn new_checkouts_in_each_other_are_searched_once() {
    let (added, beside) = (Faith::Added, Faith::Beside);
    let doubts = [
        doubt("/p/a/b/c", added, Doubt::New),
        doubt("/p/a", added, Doubt::New),
        doubt("/p/a/b", added, Doubt::Old),
        doubt("/p/ab", added, Doubt::New),
        doubt("/p/a/d", beside, Doubt::New),
        doubt("/q", added, Doubt::Old),
        doubt("/q/e", added, Doubt::New),
        doubt("/r", beside, Doubt::New),
        doubt("/r/f", added, Doubt::New),
    ];
    let left: Vec<&Path> = without_covered(&doubts)
        .filter_map(|(source, _)| source.work.as_deref())
        .collect();
    assert_eq!(
        left,
        ["/p/a", "/p/ab", "/p/a/d", "/q", "/q/e", "/r", "/r/f"].map(Path::new)
    );
}
