use proptest::prelude::*;

use super::*;

fn filled(text: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let values = values.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let template = Template::parse(text).map_err(|p| p.to_string())?;
    template.fill(&values).map_err(|problem| format!("{problem:?}"))
}

#[test]
fn names_are_replaced_and_everything_else_stays() {
    let values = [("target", "src/a b.rs"), ("n", "3")];
    assert_eq!(
        filled("Look at ${target}, ${n}${n} times; $n {n} $ $$ costs 5$", &values),
        Ok("Look at src/a b.rs, 33 times; $n {n} $ $$ costs 5$".into())
    );
    assert_eq!(filled("$${target} $$${n}", &values), Ok("${target} $${n}".into()));
}

#[test]
fn a_value_is_never_looked_at_again() {
    let values = [("a", "${b} $${b} ${"), ("b", "SECRET")];
    assert_eq!(filled("<${a}>", &values), Ok("<${b} $${b} ${>".into()));
    // Not even across the seam of two values.
    assert_eq!(filled("${a}${b}}", &[("a", "$"), ("b", "{b")]), Ok("${b}".into()));
}

#[test]
fn what_is_no_name_is_an_error() {
    for (text, problem) in [
        ("${", TemplateProblem::Unclosed),
        ("x ${a", TemplateProblem::Unclosed),
        ("${}", TemplateProblem::NotAName(String::new())),
        ("${ a }", TemplateProblem::NotAName(" a ".into())),
        ("${a.b}", TemplateProblem::NotAName("a.b".into())),
        ("${1}", TemplateProblem::NotAName("1".into())),
        ("${a${b}}", TemplateProblem::NotAName("a${b".into())),
    ] {
        assert_eq!(Template::parse(text), Err(problem), "{text}");
    }
}

#[test]
fn a_missing_value_is_named() {
    assert_eq!(filled("${a} ${b}", &[("a", "1")]), Err("Missing(\"b\")".into()));
}

#[test]
fn a_text_that_would_be_too_long_is_never_made() {
    let half = "a".repeat(MOST_FILLED / 2);
    let values = [("x", half.as_str())];
    assert_eq!(filled("${x}${x}", &values).map(|text| text.len()), Ok(MOST_FILLED));
    assert_eq!(filled("${x}${x}.", &values), Err("TooLong".into()));
    // Some 55 GB, which nobody has room for.
    let bomb = "${x}".repeat(110_000);
    assert_eq!(filled(&bomb, &[("x", &"a".repeat(500_000))]), Err("TooLong".into()));
}

proptest! {
    #[test]
    fn a_literal_stays_what_it_is(text in "[$ {}a-z]{0,40}|\\PC{0,40}") {
        prop_assert_eq!(filled(&literal(&text), &[]), Ok(text));
    }

    #[test]
    fn reading_never_panics_and_a_value_appears_verbatim(before in "\\PC{0,20}", value in "\\PC{0,40}") {
        let text = format!("{} ${{x}}", literal(&before));
        prop_assert_eq!(filled(&text, &[("x", &value)]), Ok(format!("{before} {value}")));
        let _ = Template::parse(&value);
    }
}
