//! A prompt for Google's Generative Language API.
//!
//! Pure data. Left out because the vendor would act or look up what it stored: every tool but declared functions
//! (`googleSearch`, `urlContext`, `codeExecution`, `fileSearch`, `mcpServers`, `computerUse`, …), `fileData` and
//! `cachedContent`.

use super::shape::Shape::{Many, Model, Opaque, Plain, Schema, TextOr, Unset};
use super::shape::{Shape, message};

pub(crate) static PROMPT: Shape = message(&[
    ("model", &Model),
    ("contents", &Many(&CONTENT)),
    ("systemInstruction", &CONTENT),
    ("tools", &Many(&TOOL)),
    ("toolConfig", &TOOL_CONFIG),
    ("safetySettings", &Many(&SAFETY)),
    ("generationConfig", &GENERATION),
    ("labels", &Opaque),
    ("serviceTier", &Plain),
    ("cachedContent", &Unset),
]);

pub(crate) static COUNT: Shape = message(&[
    ("model", &Model),
    ("contents", &Many(&CONTENT)),
    ("generateContentRequest", &PROMPT),
]);

pub(crate) static EMBED: Shape = message(&[
    ("model", &Model),
    ("content", &CONTENT),
    ("taskType", &Plain),
    ("title", &Plain),
    ("outputDimensionality", &Plain),
]);

pub(crate) static EMBED_BATCH: Shape = message(&[("requests", &Many(&EMBED))]);

static CONTENT: Shape = message(&[("role", &Plain), ("parts", &Many(&PART))]);

static PART: Shape = message(&[
    ("text", &Plain),
    ("inlineData", &BLOB),
    ("functionCall", &CALL),
    ("functionResponse", &RESPONSE),
    ("thought", &Plain),
    ("thoughtSignature", &Plain),
    ("videoMetadata", &VIDEO),
    ("mediaResolution", &TextOr(&RESOLUTION)),
    ("fileData", &Unset),
]);

static BLOB: Shape = message(&[("mimeType", &Plain), ("data", &Plain), ("displayName", &Plain)]);

static CALL: Shape = message(&[("id", &Plain), ("name", &Plain), ("args", &Opaque)]);

static RESPONSE: Shape = message(&[
    ("id", &Plain),
    ("name", &Plain),
    ("response", &Opaque),
    ("parts", &Many(&PART)),
    ("willContinue", &Plain),
    ("scheduling", &Plain),
]);

/// The client runs what is declared here.
static TOOL: Shape = message(&[("functionDeclarations", &Many(&FUNCTION))]);

static FUNCTION: Shape = message(&[
    ("name", &Plain),
    ("description", &Plain),
    ("parameters", &Schema),
    ("parametersJsonSchema", &Schema),
    ("response", &Schema),
    ("responseJsonSchema", &Schema),
    ("behavior", &Plain),
]);

static TOOL_CONFIG: Shape = message(&[("functionCallingConfig", &CALLING)]);

static GENERATION: Shape = message(&[
    ("temperature", &Plain),
    ("topP", &Plain),
    ("topK", &Plain),
    ("candidateCount", &Plain),
    ("maxOutputTokens", &Plain),
    ("stopSequences", &Many(&Plain)),
    ("responseMimeType", &Plain),
    ("responseSchema", &Schema),
    ("responseJsonSchema", &Schema),
    ("responseModalities", &Many(&Plain)),
    ("responseLogprobs", &Plain),
    ("logprobs", &Plain),
    ("presencePenalty", &Plain),
    ("frequencyPenalty", &Plain),
    ("seed", &Plain),
    ("thinkingConfig", &THINKING),
    ("mediaResolution", &TextOr(&RESOLUTION)),
    ("imageConfig", &IMAGE),
    ("audioTimestamp", &Plain),
]);

static SAFETY: Shape = message(&[("category", &Plain), ("threshold", &Plain), ("method", &Plain)]);
static VIDEO: Shape = message(&[("startOffset", &Plain), ("endOffset", &Plain), ("fps", &Plain)]);
static RESOLUTION: Shape = message(&[("level", &Plain)]);
static IMAGE: Shape = message(&[("aspectRatio", &Plain), ("imageSize", &Plain)]);
static CALLING: Shape = message(&[
    ("mode", &Plain),
    ("allowedFunctionNames", &Many(&Plain)),
    ("streamFunctionCallArguments", &Plain),
]);
static THINKING: Shape = message(&[
    ("includeThoughts", &Plain),
    ("thinkingBudget", &Plain),
    ("thinkingLevel", &Plain),
]);
