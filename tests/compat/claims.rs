//! One claim, two callers. Shared by the suites `compat` and `cli`; each has a `support::Place` of its own.

/// Makes each `fn claim(at) { … }` two tests, `as_root::claim` and `as_user::claim`, each in a place of its own.
macro_rules! claims {
    ($(fn $claim:ident($at:ident) $body:block)*) => {
        $(fn $claim($at: &$crate::support::Place) $body)*

        mod as_root {
            $(#[test]
            fn $claim() {
                super::$claim(&$crate::support::Place::of(glee_tests::Caller::Root));
            })*
        }

        mod as_user {
            $(#[test]
            fn $claim() {
                super::$claim(&$crate::support::Place::of(glee_tests::Caller::User));
            })*
        }
    };
}
pub(crate) use claims;
