//! What is said: `texts/en.toml` and `texts/zh.toml`, of which the build makes a function for each text.

use serde::{Serialize, Serializer};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lang {
    /// English.
    En,
    /// Chinese (simplified).
    Zh,
}

/// A sentence in both languages; JSON has the English one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// English.
    pub en: String,
    /// Chinese (simplified).
    pub zh: String,
}

impl Words {
    /// What a text says in each language.
    pub(crate) fn of<T: Into<String>>(text: impl Fn(Lang) -> T) -> Self {
        Self {
            en: text(Lang::En).into(),
            zh: text(Lang::Zh).into(),
        }
    }

    /// In one of them.
    pub fn in_language(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Zh => &self.zh,
        }
    }
}

impl Serialize for Words {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.en)
    }
}

impl schemars::JsonSchema for Words {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Words".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[allow(missing_docs)] // named after the keys of the files
mod made {
    use super::Lang;
    include!(concat!(env!("OUT_DIR"), "/texts.rs"));
}
pub(crate) use made::*;
