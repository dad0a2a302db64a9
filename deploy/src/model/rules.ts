/**
 * Answers by pattern, tried in order. A pattern is words, `+` for one word, `*` for any run of them, `@family` for one of a
 * family's. In an answer `$1` is what the first of its `+` and `*` heard, turned round;
 * `{agent}`, `{user}` and `{previous}` are what is known.
 * An answer with a gap that nothing fills is passed over, and those that name more of what is known go before the rest.
 */
export type Readings = Record<string, string[]>;

/** A rule is heard when a clause holds one of its keywords; the highest rank speaks first. */
export type Rule = { keywords: string[]; rank: number; readings: Readings };

export const OPENING: Readings = {
  "*": [
    "Hello {user}, this is {agent}. What can I do for you?",
    "Hello, this is {agent}. What can I do for you?",
    "Hello {user}. What can I do for you?",
    "Hello. What can I do for you?",
  ],
};

export const FAREWELL: Readings = {
  "*": [
    "Goodbye, {user}. It was good to talk with you.",
    "Take care, {user}. Until next time.",
    "Goodbye, and thank you for the conversation.",
    "Take care. Until next time.",
  ],
};

/** When no rule fits, every second time: what the user called their own some turns ago. */
export const RECALL: Readings = {
  "* my + *": [
    "Let me go back a step: you spoke of your $2. Does this have to do with it?",
    "I still have your $2 in mind. Where does that stand now?",
    "A moment ago it was your $2. Shall we stay with that?",
  ],
};

export const UNHEARD: Readings = {
  "*": [
    "How would you put that to a friend?",
    "Noted. What matters most to you in it?",
    "And what happened next?",
    "I follow so far. What would a good result look like?",
    "Could you give me one detail more?",
    "Let us take that slowly. Where does it begin?",
    "All right. What have you tried up to now?",
  ],
};

export const RULES: Rule[] = [
  rule(20, "who are you|your name|who is this|who am i talking|who am i speaking|introduce yourself", {
    "*": [
      "I am {agent}. What brings you here today?",
      "My name is {agent}. How can I help?",
      "You are talking with {agent}.",
      "I am the model that stands in until a real one is connected. I have no name of my own.",
      "Nobody has named me yet. I stand in for a real model.",
    ],
  }),
  rule(19, "my name|who am i", {
    "my name is *": ["Pleased to meet you, {user}. What can I do for you?", "Thank you, {user}. How can I help?"],
    "* my name is *": ["Good to have you here, {user}. What is on your mind?"],
    "*": ["You are {user}, if I heard you right.", "You have not told me your name yet. What is it?"],
  }),
  rule(18, "model|llm|gpt|chatgpt|openai|provider|api key", {
    "*": [
      "No language model is connected here. I am a set of rules that answers in its place; give Parley a provider's key to change that.",
      "You are testing against the built-in stand-in. With a provider's key a real model takes over.",
    ],
  }),
  rule(17, "test|testing|hear me|there", {
    "test *": ["I hear you loud and clear.", "The line works: your words arrive and mine come back."],
    "testing *": ["Test received. What shall we try next?", "It works. Say something more difficult."],
    "this is a test *": ["Passed, as far as I can tell. Go on."],
    "* can you hear me *": ["Loud and clear. Go ahead."],
    "* are you there *": ["Still here. Go ahead.", "Yes, and listening."],
  }),
  rule(16, "repeat|say that again|say again|pardon|did you say|come again", {
    "*": ["{previous}", "I have not said anything yet. What would you like to hear?"],
  }),
  rule(15, "what can you do|what do you do|help", {
    "* what * you do *": [
      "I listen, ask back and remember your name. It is enough to try out an agent, and no more.",
      "Talk to me about anything; I turn your words into questions.",
    ],
    "* help with *": ["Gladly. What is the first thing to know about $2?", "Where are you stuck with $2?"],
    "* help me with *": ["Gladly. What is the first thing to know about $2?", "Where are you stuck with $2?"],
    "* help me *": ["Let us see how to $2. What have you tried?", "I will do what I can. What is it about?"],
    "*": ["I will do what I can. What is it about?", "Tell me what you need and we will take it step by step."],
  }),
  rule(14, "a human|a person|real person|representative|operator|supervisor|a manager|the manager", {
    "* are you *": ["No person here, only rules that listen. Is that all right with you?"],
    "*": [
      "I cannot put anyone through from here. What would you say to them?",
      "What should a person take care of for you?",
    ],
  }),
  rule(14, "are you", {
    "* are you * @machine *": [
      "I am a small set of rules in place of a language model. There is nobody behind it.",
      "A few dozen rules and no understanding, to be honest about it.",
    ],
    "* are you @machine *": [
      "A program, and a simple one: a few dozen rules.",
      "I am a program that stands in for a model.",
    ],
    "* are you sure *": ["As sure as a handful of rules can be. What makes you doubt it?"],
    "* how are you *": ["Running smoothly, thank you. And you?", "Quite well. How is your day going?"],
    "* are you *": ["Would it change something for you if I were $2?", "Perhaps I am $2. What makes you ask?"],
  }),
  rule(13, "cancel|reschedule|postpone|move my", {
    "* cancel *": ["What should happen instead of $2?", "I note the wish to cancel $2. Under which name is it?"],
    "*": ["Which day would suit you better?", "What is the new time you have in mind?"],
  }),
  rule(12, "book|appointment|booking|reservation|reserve|meeting|table for|schedule", {
    "* @appointment for *": ["For $2: which day and what time?", "For $2, I see. Under which name shall I put it?"],
    "*": ["Which day and time would suit you?", "For how many people, and when?", "Under which name should that be?"],
  }),
  rule(12, "refund|money back|reimburse|return", {
    "*": ["When did you buy it?", "What was wrong with it?", "Do you have the order number at hand?"],
  }),
  rule(12, "joke|funny|laugh", {
    "*": [
      "A rule walks into a conversation and finds no keyword. It asks the conversation how it feels.",
      "My best line depends on yours: I only turn it round.",
    ],
  }),
  rule(12, "do you speak|can you speak|in spanish|in french|in german|in english", {
    "* you speak *": [
      "My rules know English only; a real model would manage $2.",
      "Not $2, I am afraid. Shall we go on in English?",
    ],
    "*": ["My rules are written in English. Shall we go on in it?"],
  }),
  rule(11, "price|prices|cost|costs|how much|fee|expensive", {
    "*": [
      "I have no price list here. What would be a fair figure for you?",
      "Which of our services do you have in mind?",
    ],
  }),
  rule(11, "open|opening|hours|closed|closing", {
    "*": ["I have no timetable at hand. Which day were you thinking of?", "When would you like to come by?"],
  }),
  rule(11, "order|delivery|parcel|package|shipping|shipment", {
    "*": [
      "What is the number of the order?",
      "When was it supposed to arrive?",
      "What does the last message about it say?",
    ],
  }),
  rule(10, "password|account|log in|login|sign in|locked out", {
    "*": [
      "What do you see when you try?",
      "When did it last work?",
      "Please keep the password to yourself. What does the page say?",
    ],
  }),
  rule(10, "problem|issue|broken|error|not working|doesn't work|wrong|bug|crash", {
    "* problem with *": ["When did the trouble with $2 start?", "What did $2 do before?"],
    "* @broken *": ["Since when is that so?", "What changed just before it broke?"],
    "*": ["When did it start?", "What did you do right before?", "Does it happen every time, or only now and then?"],
  }),
  rule(10, "mother|mum|mom|father|dad|sister|brother|wife|husband|son|daughter|family", {
    "* my @relative *": [
      "How do the two of you get along?",
      "And what would they say about it?",
      "How long has that been so?",
    ],
    "*": ["Who else is part of this?", "What role does your own home play in it?"],
  }),
  rule(9, "address|where are you|located|location|directions", {
    "*": ["I live on this computer and nowhere else. Where do you want to go?", "Which place are you starting from?"],
  }),
  rule(9, "phone|email|e-mail|call back|callback|contact", {
    "*": ["What is the best way to reach you?", "At what time of day should someone get in touch?"],
  }),
  rule(9, "sad|unhappy|depressed|lonely|worried|anxious|upset|tired|angry|afraid|stressed", {
    "* i * @sad because *": ["If it were not that $3, how would today look?", "Has it been on your mind long that $3?"],
    "* i * @sad *": [
      "That sounds heavy. Since when?",
      "What would take some of the weight off?",
      "Who knows that you feel so?",
    ],
  }),
  rule(9, "happy|glad|excited|pleased|delighted|relieved", {
    "* i * @glad *": ["Good to hear. What made the difference?", "How could there be more of that?"],
  }),
  rule(9, "i don't know|not sure|no idea|i don't understand", {
    "*": ["Not knowing is a fair start. What would you guess?", "Which part is the unclear one?", "Who might know?"],
  }),
  rule(8, "weather|rain|news|what time|what day|what date", {
    "*": [
      "I have no window and no clock. What is it like where you are?",
      "A real model with tools could look that up; I cannot.",
    ],
  }),
  rule(8, "i can't|i couldn't|unable", {
    "* i can't *": ["What stands between you and being able to $2?", "Could you $2 once, and what was different then?"],
    "*": ["What would have to be different?"],
  }),
  rule(8, "i feel|i am feeling|i felt", {
    "* i feel like *": ["What would it be like to give in to $2?"],
    "* i feel *": [
      "How long have you felt $2?",
      "What do you do when you feel $2?",
      "Where does feeling $2 come from?",
    ],
    "*": ["When did you first notice that feeling?"],
  }),
  rule(8, "dream|dreamt|dreamed|remember", {
    "* i remember *": ["What brings $2 back right now?", "What else belongs to the memory of $2?"],
    "* do you remember *": ["I reread the whole conversation each time. What about $2?"],
    "*": ["How did it end?", "Does it come back often?"],
  }),
  rule(7, "i want|i need|i would like|i would love|i am looking for|i wish|i require", {
    "* i @want to *": [
      "What would be the first step to $2?",
      "What has kept you from it so far?",
      "When would you like to $2?",
    ],
    "* i @want *": ["What would you do with $2?", "How soon does it have to be?", "What makes $2 the right thing?"],
    "* i wish *": ["Suppose it came true that $2. What then?"],
  }),
  rule(7, "everyone|everybody|nobody|always|never|all the time", {
    "*": ["Is there an exception you can think of?", "When was the last time?", "Every single time?"],
  }),
  rule(6, "work|job|boss|colleague|office|school", {
    "*": ["What does a usual day there look like?", "What would you change there first?", "Who there is on your side?"],
  }),
  rule(6, "love|hate", {
    "* i love *": ["What is it about $2 that gets you?", "How did $2 come into your life?"],
    "* i hate *": ["What did $2 do to earn that?", "Could you live without $2?"],
  }),
  rule(6, "sorry|apologize|apologise", { "*": ["Nothing to forgive. Go on.", "No harm done. Where were we?"] }),
  rule(6, "thanks|thank you|thank", {
    "*": [
      "You are welcome, {user}. Anything else?",
      "You are welcome. Is there anything else?",
      "With pleasure. What next?",
    ],
  }),
  rule(6, "why don't you|why can't i|why do you|why", {
    "* why don't you *": ["Should I $2? Perhaps later.", "What would you gain if I did $2?"],
    "* why can't i *": ["What happens when you try to $2?", "Who says that you cannot?"],
    "*": ["What answer would you expect?", "I only have questions. What is your own guess?"],
  }),
  rule(5, "because", {
    "* because *": ["Is that the whole of it?", "And if it were not for that?", "What else might be behind it?"],
  }),
  rule(5, "can you|could you|would you|will you", {
    "* @ask you *": ["What would it mean for you if I could $2?", "My rules do not go that far. Who could $2?"],
  }),
  rule(5, "can i|could i|may i", {
    "* can i *": ["What speaks against it, if you want to $2?", "Nobody here would stop you. When will you $2?"],
    "*": ["What speaks against it?"],
  }),
  rule(5, "i think|i believe|i guess|i suppose", {
    "* i @think *": [
      "What makes you think that $2?",
      "How certain are you that $2?",
      "And if it turned out otherwise?",
    ],
  }),
  rule(5, "you are|you", {
    "* you are *": ["What makes you say that I am $2?", "Say I am $2. What follows?"],
    "* you * me *": ["What gives you the feeling that I $2 you?", "And if I did $2 you, what then?"],
  }),
  rule(4, "hello|hi|hey|hiya|good morning|good afternoon|good evening", {
    "*": [
      "Hello {user}. What can I do for you?",
      "Good to hear from you, {user}. What is it about?",
      "Hello. What can I do for you?",
      "Welcome. What would you like to talk about?",
    ],
  }),
  rule(4, "i am|i was", {
    "* i am *": ["Since when are you $2?", "What does it mean to you to be $2?", "How did you come to be $2?"],
    "* i was *": ["What was it like to be $2?", "And what are you now?"],
  }),
  rule(3, "i have|i had", { "* i have *": ["How did you come by $2?", "What do you plan to do about $2?"] }),
  rule(3, "maybe|perhaps|possibly", { "*": ["What would settle it?", "Which way do you lean?"] }),
  rule(2, "my", {
    "* my + *": ["What should I know about your $2?", "Your $2: is that new?", "How important is your $2 to you?"],
  }),
  rule(2, "if", { "* if *": ["How likely is it that $2?", "And what if not?"] }),
  rule(1, "what|how|when|where|which|who", {
    "*": [
      "What would you like the answer to be?",
      "What would you do with the answer?",
      "Where have you looked already?",
    ],
  }),
  rule(1, "yes|yeah|yep|sure|ok|okay", {
    "*": ["Good. What comes next?", "Understood. Say a little more.", "Then let us go on."],
  }),
  rule(1, "no|nope|not really", {
    "*": ["What would it take for a yes?", "All right, not that. What instead?", "No, and why not?"],
  }),
];

function rule(rank: number, keywords: string, readings: Readings): Rule {
  return { keywords: keywords.split("|"), rank, readings };
}
