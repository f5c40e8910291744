//! A registry is a list of modules, from which macros make the reader, the catalogue, the schema and the dispatch.
//!
//! [`registry!`](crate::registry) lists the entries of one kind, one line each. Every module has a `Params` section
//! and opens with its documentation. The macro declares the modules, and makes the enum `Spec` of the entries that a
//! scenario can name, with its reader and writer, and the `CATALOGUE`. Traits behind the list define the interface of
//! the entries. A `trait … for Policy` also makes the enum `Policy` of running policies, with the `Policy` of every
//! module as a variant; it implements each method of the trait by one `match`, without a virtual call per cell. A
//! `trait … for Spec` is implemented by the `Params`. Properties of a module that do not depend on its parameters are
//! constants of the module; `pub const … as Kind::…` makes a method of `Kind` that returns them.
//!
//! Entries that a scenario names by a word alone are listed without a key, each line below its documentation: there
//! `Spec` stands for the word, and a `trait … for Control` makes the enum `Control` of running controls, with the
//! `Control` of every module as a variant.

use serde_json::{Map, Value as Json, json};

use super::prose::{plain, unlinked};
use super::spec::ParamSpec;
use super::tree::{Fault, Node};
use crate::words::aliases::here;
use crate::words::nearest::{elsewhere, nearest};

/// One entry of a catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Kind of entry: `admission`, `scheduler`, …
    pub kind: &'static str,
    /// Name of the entry in scenarios.
    pub name: &'static str,
    /// Form of the entry's table; `None` if a scenario writes only its name.
    pub table: Option<TableForm>,
    /// Whether its publications leave important details open, so that no fidelity is claimed.
    pub experimental: bool,
    /// Sentence that says what the entry does, taken from the doc comment of its `Params`.
    pub doc: &'static str,
    /// Text of the file that implements the entry; its leading `//!` lines are the documentation.
    pub file: &'static str,
    /// Parameters of the entry.
    pub params: fn() -> Vec<ParamSpec>,
}

/// Form of an entry with parameters: a table in a scenario, an object in Python.
#[derive(Clone, Copy, Debug)]
pub struct TableForm {
    /// The key of the table whose value is the entry's name: `policy`, `kind` or `template`.
    pub tag: &'static str,
    /// Name of the class in Python, which is that of the variant of `Spec`.
    pub class: &'static str,
}

impl Entry {
    /// Return a sentence that says what the entry does.
    pub fn summary(&self) -> String {
        plain(self.doc)
    }

    /// Return the documentation at the top of the file, as Markdown without links into the code.
    pub fn header(&self) -> String {
        let lines = self.file.lines().take_while(|line| line.starts_with("//!"));
        let lines = lines.map(|line| line.trim_start_matches("//!").trim_start_matches(' '));
        let mut fenced = false;
        let line = |line: &str| {
            fenced ^= line.starts_with(FENCE);
            if fenced { line.to_string() } else { unlinked(line) }
        };
        lines.map(line).collect::<Vec<_>>().join("\n")
    }

    /// Return the first paragraph below the heading "Source", on one line.
    pub fn source(&self) -> String {
        let header = self.header();
        let below = header.lines().skip_while(|line| *line != "# Source").skip(1);
        below.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Return the whole entry as a JSON document.
    pub fn document(&self) -> Json {
        let params = (self.params)().into_iter().map(|param| {
            let mut keys = Map::new();
            keys.insert("name".to_string(), param.name.into());
            keys.insert("unit".to_string(), param.shape.unit.into());
            keys.insert("required".to_string(), param.default.is_none().into());
            keys.insert("default".to_string(), param.default.unwrap_or_default());
            keys.insert("doc".to_string(), param.doc.into());
            keys.insert("schema".to_string(), param.shape.schema);
            Json::from(keys)
        });
        json!({
            "name": self.name,
            "kind": self.kind,
            "summary": self.summary(),
            "source": self.source(),
            "experimental": self.experimental,
            "table": self.table.map(|form| json!({ "tag": form.tag, "class": form.class })),
            "params": params.collect::<Json>(),
            "header": self.header(),
        })
    }
}

/// The fence at the beginning and the end of a block of code in Markdown.
pub(crate) const FENCE: &str = "```";

/// List the modules of one kind, one line each: `Variant = "name" in module`; a module that is documented by another
/// file adds `at "module/mod.rs"`, and one whose publications leave important details open adds `[experimental]`.
/// Behind the list, `testing { … }` lists modules that only unit tests have.
#[macro_export]
macro_rules! registry {
    (
        $(#[doc = $doc:literal])+
        $kind:literal by $tag:literal { $($line:tt)+ } testing { $($test_line:tt)+ }
        $($asked:tt)*
    ) => {
        #[cfg(not(test))]
        $crate::registry! { $(#[doc = $doc])+ $kind by $tag { $($line)+ } $($asked)* }

        #[cfg(test)]
        $crate::registry! { $(#[doc = $doc])+ $kind by $tag { $($line)+ $($test_line)+ } $($asked)* }
    };
    (
        $(#[doc = $doc:literal])+
        $kind:literal by $tag:literal {
            $( $variant:ident = $name:literal in $module:ident $(at $file:literal)? $([$experimental:ident])? ),+ $(,)?
        }
        $($asked:tt)*
    ) => {
        $( pub mod $module; )+

        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // each variant is documented by its module
        #[allow(clippy::large_enum_variant)] // a scenario has few of them
        pub enum Spec { $( $variant($module::Params) ),+ }

        /// The entries of this kind.
        pub const CATALOGUE: &[$crate::language::registry::Entry] = &[$(
            $crate::language::registry::Entry {
                kind: $kind,
                name: $name,
                table: Some($crate::language::registry::TableForm { tag: $tag, class: stringify!($variant) }),
                experimental: $crate::registry!(@experimental $($experimental)?),
                doc: <$module::Params as $crate::language::spec::Section>::DOC,
                file: $crate::registry!(@file $module $($file)?),
                params: <$module::Params as $crate::language::spec::Section>::params,
            }
        ),+];

        /// The kinds of entries, without parameters.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // each variant is documented by its module
        pub enum Kind { $( $variant ),+ }

        impl Kind {
            /// All kinds of entries, in the order of the catalogue.
            pub const ALL: &[Kind] = &[$( Kind::$variant ),+];

            /// Return the name of the entry in scenarios.
            pub fn name(self) -> &'static str {
                match self { $( Kind::$variant => $name ),+ }
            }
        }

        impl Spec {
            /// Return the kind of entry, without its parameters.
            pub fn kind(&self) -> Kind {
                match self { $( Spec::$variant(_) => Kind::$variant ),+ }
            }

            /// Return the name of the entry in scenarios.
            pub fn name(&self) -> &'static str {
                self.kind().name()
            }

            /// Return all entries of this kind that a scenario can write by their name alone.
            pub fn plain() -> impl Iterator<Item = Spec> {
                CATALOGUE.iter().filter_map(|entry| {
                    let named = $crate::language::tree::Node::named($tag, entry.name);
                    <Spec as $crate::language::spec::Field>::read(&named, "").ok()
                })
            }
        }

        impl $crate::language::spec::Field for Spec {
            fn read(
                node: &$crate::language::tree::Node,
                path: &str,
            ) -> Result<Self, $crate::language::tree::Fault> {
                use $crate::words::nearest::unknown;
                use $crate::language::spec::{Section, Table};
                let mut table = Table::new(node, path)
                    .map_err(|fault| $crate::language::registry::bare(fault, node, ($kind, $tag), &[$($name),+]))?;
                let name: String = table.required($tag).map_err(|fault| match node.get($tag) {
                    Some(_) => fault,
                    None => fault.with(&format!(" (one of: {})", [$($name),+].join(", "))),
                })?;
                let spec = match name.as_str() {
                    $( $name => Spec::$variant(<$module::Params as Section>::take(&mut table)?), )+
                    _ => {
                        let place = node.get($tag).map_or(node.place, |tag| tag.place);
                        let message = unknown($kind, &name, &[$($name),+]);
                        return Err($crate::language::tree::Fault { place, path: table.path_of($tag), message });
                    }
                };
                table.finish().map_err(|fault| fault.with(&format!("; the {} is \"{name}\"", $tag)))?;
                Ok(spec)
            }

            fn write(&self) -> $crate::serde_json::Value {
                let mut keys = $crate::serde_json::Map::new();
                keys.insert($tag.to_string(), self.name().into());
                match self { $( Spec::$variant(params) => $crate::language::spec::Section::put(params, &mut keys) ),+ }
                keys.into()
            }

            fn shape() -> $crate::language::spec::Shape {
                $crate::language::registry::shape_of($tag, CATALOGUE)
            }
        }

        $crate::registry!(@asked { $( $variant = $module ),+ } $($asked)*);
    };
    (
        $(#[doc = $doc:literal])+
        $kind:literal {
            $( $(#[doc = $line:literal])+ $variant:ident = $name:literal in $module:ident $(at $file:literal)? ),+ $(,)?
        }
        $($asked:tt)*
    ) => {
        $( pub mod $module; )+

        $crate::choice! {
            $(#[doc = $doc])+
            pub enum Spec { $( $(#[doc = $line])+ $variant = $name ),+ }
        }

        /// The entries of this kind.
        pub const CATALOGUE: &[$crate::language::registry::Entry] = &[$(
            $crate::language::registry::Entry {
                kind: $kind,
                name: $name,
                table: None,
                experimental: false,
                doc: concat!($($line, "\n"),+),
                file: $crate::registry!(@file $module $($file)?),
                params: Vec::new,
            }
        ),+];

        $crate::registry!(@asked { $( $variant = $module ),+ } $($asked)*);
    };
    (@file $module:ident) => { include_str!(concat!(stringify!($module), ".rs")) };
    (@file $module:ident $file:literal) => { include_str!($file) };
    (@experimental) => { false };
    (@experimental experimental) => { true };
    (@asked $list:tt) => {};
    (
        @asked $list:tt
        $(#[doc = $doc:literal])+ pub trait $trait:ident $(: $base:ident)? for $enum:ident $methods:tt
        $($more:tt)*
    ) => {
        $crate::registry!(@enum $enum $list);
        $crate::registry!(@trait $list $(#[doc = $doc])+ pub trait $trait $(: $base)? for $enum $methods $($more)*);
    };
    (@trait $list:tt) => {};
    (
        @trait { $( $variant:ident = $module:ident ),+ }
        $(#[doc = $doc:literal])+ pub const $constant:ident: $type:ty as Kind::$method:ident;
        $($more:tt)*
    ) => {
        impl Kind {
            $(#[doc = $doc])+
            pub fn $method(self) -> $type {
                match self { $( Kind::$variant => $module::$constant ),+ }
            }
        }

        $crate::registry!(@trait { $( $variant = $module ),+ } $($more)*);
    };
    (
        @trait $list:tt
        $(#[doc = $doc:literal])+ pub trait $trait:ident $(: $base:ident)? for $enum:ident $methods:tt
        $($more:tt)*
    ) => {
        $(#[doc = $doc])+
        #[allow(unused_variables)] // a default need not look at what it is told
        pub trait $trait $(: $base)? $methods

        impl $trait for $enum {
            $crate::registry!(@answers $enum $list $methods);
        }

        $crate::registry!(@trait $list $($more)*);
    };
    (@enum Spec $list:tt) => {};
    (@enum Policy { $( $variant:ident = $module:ident ),+ }) => {
        /// One of the policies of this registry, running within its owner; boxed, so that an owner needs no room for
        /// other policies.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // documented by their modules
        pub enum Policy { $( $variant(Box<$module::Policy>) ),+ }

        impl Policy {
            /// Return the kind of entry.
            pub fn kind(&self) -> Kind {
                match self { $( Policy::$variant(_) => Kind::$variant ),+ }
            }
        }

        impl Spec {
            /// Build the policy of one owner; the error says why the policy cannot work there.
            pub fn build(&self, context: &Context<'_>) -> Result<Policy, $crate::refused::Refused> {
                Ok(match self {
                    $( Spec::$variant(params) => Policy::$variant(Box::new($module::Policy::new(params, context)?)) ),+
                })
            }
        }
    };
    (@enum Control { $( $variant:ident = $module:ident ),+ }) => {
        /// One of the controls of this registry, running within its owner.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // documented by their modules
        pub enum Control { $( $variant($module::Control) ),+ }

        impl Spec {
            /// Start the control.
            pub fn start(self, params: &Params) -> Control {
                match self { $( Spec::$variant => Control::$variant($module::Control::new(params)) ),+ }
            }
        }
    };
    (@answers $enum:ident $list:tt {}) => {};
    (@answers $enum:ident $list:tt { $(#[$doc:meta])+ fn $method:ident $args:tt $(-> $answer:ty)?; $($more:tt)* }) => {
        #[inline(always)] // which of the answers is worth it, their files say
        fn $method $args $(-> $answer)? {
            $crate::registry!(@ask $enum $list $method $args)
        }

        $crate::registry!(@answers $enum $list { $($more)* });
    };
    (
        @answers $enum:ident $list:tt
        { $(#[$doc:meta])+ fn $method:ident $args:tt $(-> $answer:ty)? $default:block $($more:tt)* }
    ) => {
        $crate::registry!(@answers $enum $list { $(#[$doc])+ fn $method $args $(-> $answer)?; $($more)* });
    };
    (@ask $enum:ident $list:tt $method:ident (&mut $self:ident $(, $arg:ident: $type:ty)*)) => {
        $crate::registry!(@match $self $enum $list $method ($($arg),*))
    };
    (@ask $enum:ident $list:tt $method:ident (&$self:ident $(, $arg:ident: $type:ty)*)) => {
        $crate::registry!(@match $self $enum $list $method ($($arg),*))
    };
    (@match $self:ident $enum:ident { $( $variant:ident = $module:ident ),+ } $method:ident $args:tt) => {
        match $self { $( $enum::$variant(one) => one.$method $args ),+ }
    };
}

/// Describe the fault of a value that is not a table: if it names an entry of this kind, the message says how to write
/// it; if it is a name that other programs or papers use, what it is here.
pub(crate) fn bare(fault: Fault, node: &Node, (what, tag): (&str, &str), names: &[&str]) -> Fault {
    let word = node.text().unwrap_or_default();
    let written = |name: &str| format!(": write {{ {tag} = \"{name}\" }}");
    match (here(word, names), elsewhere(what, word, names), nearest(word, names)) {
        (Some(name), ..) | (None, None, Some(name)) => fault.with(&written(name)),
        (None, Some(meaning), _) => fault.with(&format!(": {meaning}")),
        (None, None, None) => fault.with(&format!(", as in {{ {tag} = \"{}\" }}", names[0])),
    }
}

/// Return the JSON Schema of a table that is one of a catalogue's entries.
pub fn shape_of(tag: &str, catalogue: &[Entry]) -> super::spec::Shape {
    use super::spec::object_schema;
    let one_of: Vec<_> = catalogue
        .iter()
        .map(|entry| {
            let mut schema = object_schema(&(entry.params)());
            schema["title"] = entry.name.into();
            schema["properties"][tag] = serde_json::json!({ "const": entry.name });
            match schema["required"].as_array_mut() {
                Some(required) => required.insert(0, tag.into()),
                None => schema["required"] = serde_json::json!([tag]),
            }
            schema
        })
        .collect();
    super::spec::Shape { unit: "-", schema: serde_json::json!({ "oneOf": one_of }) }
}
