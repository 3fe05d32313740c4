//! Moments as files and people write them: whole seconds, in UTC, `2025-01-09T15:00:00`.
//!
//! Pure, but for `Moment::now`. INVARIANT: what is printed is read back as the same moment.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::report::rfc3339;

/// Seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Moment(u64);

/// Beyond the year 9999 the text has no fixed width.
const LAST: u64 = 253_402_300_799;

impl Moment {
    #[must_use]
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    #[must_use]
    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds.min(LAST))
    }

    #[must_use]
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// How long ago it was then; nothing for what is yet to come.
    #[must_use]
    pub fn age(self, now: Self) -> Duration {
        Duration::from_secs(now.0.saturating_sub(self.0))
    }

    /// `20250109`.
    #[must_use]
    pub fn day(self) -> String {
        self.to_string().chars().take(10).filter(|c| *c != '-').collect()
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        Self::from_seconds(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = rfc3339(UNIX_EPOCH + Duration::from_secs(self.0));
        f.write_str(full.get(..19).unwrap_or(&full))
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        moment.to_string()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a time such as 2025-01-09T15:00:00")]
pub struct NotAMoment;

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        let number = |range: std::ops::Range<usize>| -> Result<u64, NotAMoment> {
            let digits = text.get(range).filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
            digits.and_then(|d| d.parse().ok()).ok_or(NotAMoment)
        };
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        if year < 1970 {
            return Err(NotAMoment);
        }
        // Days of a civil date: years of 365.2425 days that start in March.
        let (y, m) = if month <= 2 {
            (year - 1, month + 9)
        } else {
            (year, month - 3)
        };
        let days = (y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day).checked_sub(719_469);
        let seconds = days.ok_or(NotAMoment)? * 86_400 + hour * 3600 + minute * 60 + second;
        let moment = Self::from_seconds(seconds);
        // Whatever is not written as we write it, the 31st of February too.
        (moment.to_string() == text).then_some(moment).ok_or(NotAMoment)
    }
}

impl TryFrom<String> for Moment {
    type Error = NotAMoment;

    fn try_from(text: String) -> Result<Self, NotAMoment> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back_on_every_day_until_2200() {
        for day in 0..84_000 {
            let moment = Moment::from_seconds(day * 86_400 + day % 86_400);
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }

    #[test]
    fn known_moments() {
        let moment = Moment::from_seconds(1_736_434_800);
        assert_eq!(
            (moment.to_string().as_str(), moment.day().as_str()),
            ("2025-01-09T15:00:00", "20250109")
        );
        assert_eq!("2000-02-29T23:59:59".parse(), Ok(Moment::from_seconds(951_868_799)));
    }

    #[test]
    fn nothing_else_is_read() {
        for wrong in [
            "",
            "2025-01-09",
            "2025-01-09T15:00:00Z",
            "2025-02-31T00:00:00",
            "2023-02-29T00:00:00",
            "2025-00-01T00:00:00",
            "2025-01-00T00:00:00",
            "2025-13-01T00:00:00",
            "2025-01-09T24:00:00",
            "2025-01-09 15:00:00",
            "1969-12-31T23:59:59",
            "+025-01-09T15:00:00",
            "2025-01-09T15:00:0é",
            "99999-01-01T00:00:00",
        ] {
            assert_eq!(wrong.parse::<Moment>(), Err(NotAMoment), "{wrong}");
        }
    }
}
