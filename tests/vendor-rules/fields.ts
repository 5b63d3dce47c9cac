/**
 * Fields that vendors know, by protocol: a field in none of these lists is unknown to them. From the parameter types of openai 7.59 and
 * @anthropic-ai/sdk 1.14, the vendors' references, and recorded requests that were answered.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
type FieldsByKind = Readonly<Record<string, ReadonlySet<string>>>;

export const openaiChat = {
  request: words(`messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities
    moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
    response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity
    web_search_options`),
  roles: words('system developer user assistant tool function'),
} as const;

/** A message's fields, by its role. The replies of this vendor bear `annotations` and `refusal`, and come back so. */
export const mistralChat = {
  request: words(`model messages temperature top_p max_tokens stream stop random_seed metadata response_format tools tool_choice presence_penalty
    frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort guardrails safe_prompt prompt_cache_key`),
  message: {
    system: words('role content'),
    user: words('role content'),
    assistant: words('role content tool_calls prefix'),
    tool: words('role content tool_call_id name'),
  } as FieldsByKind,
  toolCall: words('id type function index'),
  function: words('name arguments'),
  tool: words('type function'),
  toolFunction: words('name description parameters strict'),
} as const;

export const responses = {
  // `client_metadata` is in no reference: Codex sends it to the vendor with every request (codex-rs, core/src/client.rs).
  request:
    words(`access_programs background background_options client_metadata context_management conversation image include input instructions max_output_tokens max_tool_calls metadata
    model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning
    safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user`),
  item: {
    message: words('type role content id status phase'),
    function_call: words('type id call_id name arguments status namespace caller async'),
    function_call_output: words('type id call_id output status caller'),
    // Its status is for reading: sent back, it is refused.
    reasoning: words('type id summary content encrypted_content'),
    item_reference: words('type id'),
    custom_tool_call: words('type id call_id name input status namespace caller'),
    custom_tool_call_output: words('type id call_id output caller'),
  } as FieldsByKind,
} as const;

export const messages = {
  request: words(`max_tokens messages model billing_policy cache_control compaction container context_management diagnostics fallback_credit_token
    fallbacks inference_geo mcp_servers metadata output_config output_format service_tier speed stop_sequences stream system thinking thread tool_choice
    tools user_profile_id workspace_id temperature top_p top_k`),
  message: words('role content output_config clear_at'),
  block: {
    text: words('type text cache_control citations'),
    image: words('type source cache_control'),
    document: words('type source cache_control citations context title'),
    thinking: words('type thinking signature'),
    redacted_thinking: words('type data'),
    tool_use: words('type id name input cache_control caller'),
    tool_result: words('type tool_use_id content is_error cache_control'),
  } as FieldsByKind,
} as const;

/** Both spellings of each name are read: `generationConfig` and `generation_config`. */
export const generateContent = {
  request: words(`contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent model labels serviceTier store
    modelArmorConfig`),
  content: words('parts role'),
  part: words(`text inlineData fileData functionCall functionResponse executableCode codeExecutionResult thought thoughtSignature videoMetadata
    partMetadata mediaResolution toolCall toolResponse mediaProcessing audioTranscription speechMetadata`),
  functionCall: words('id name args partialArgs willContinue'),
  functionResponse: words('id name response willContinue scheduling parts'),
  generationConfig: words(`stopSequences responseMimeType responseSchema responseJsonSchema _responseJsonSchema responseModalities candidateCount
    maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig
    thinkingConfig imageConfig mediaResolution audioTimestamp routingConfig modelSelectionConfig responseFormat translationConfig automaticContinuation`),
  functionDeclaration: words('name description behavior parameters parametersJsonSchema response responseJsonSchema'),
  schema: words(`type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength
    pattern example anyOf propertyOrdering default items minimum maximum`),
} as const;

export const converse = {
  request: words(`messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables
    additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig`),
  inferenceConfig: words('maxTokens temperature topP stopSequences'),
  block: words('text image document video audio toolUse toolResult guardContent cachePoint reasoningContent citationsContent searchResult'),
  toolConfig: words('tools toolChoice'),
} as const;

/** The body that the messages vendor takes on Bedrock: no model, no stream, flags in the body. */
export const invokeMessages = words(`anthropic_version anthropic_beta max_tokens messages system temperature top_p top_k stop_sequences tools tool_choice
  thinking output_config context_management metadata`);

export const kiro = {
  request: words('conversationState profileArn additionalModelRequestFields origin agentMode inferenceConfig'),
  user: words('content modelId origin images userInputMessageContext userIntent cachePoint clientCacheConfig documents'),
} as const;

/** The keys that are in no list. Null fields count: vendors look at names first. */
export const unknownKeys = (value: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): string[] =>
  Object.keys(value).filter((key) => !known.has(key));
