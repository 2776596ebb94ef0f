"""The gate of `reply`: does the end of a conversation ask something that could be answered? Knows words, no
sources.

The keyless side lets through what has the form of a question, a request or a trouble that somebody reports,
and keeps out greetings, thanks, and talk about oneself. What it lets through too much falls silent later,
when no source bears on it."""

from __future__ import annotations

import re

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text.identifiers import find_unmistakable_codes
from agent.text.tokens import fold, tokenize
from agent.text.word_lists import STOPWORDS

MAX_LINES, MAX_END_CHARS = 100, 500
"""What is looked at: so many lines, the last ones, and so many characters at either end of a long one."""
_PUNCTUATION_RUN = re.compile(r"\W{9,}")
MIN_QUERY_WORDS = 3
"""Content words of a message that reads like something typed into a search box."""
_QUESTION_MARK = re.compile(r"[?？؟⁇;](?:[\s\"'”’)\]!.…]|$)")
_QUESTION_OPENING = re.compile(
    r"^\W*(?:(?:hi|hey|hello|hallo|hej|hola|salut|bonjour|please|pls|so|and|but|ok|okay|sorry|um|well|also|btw|guys|all|team|there|everyone|anyone"
    r"|und|aber|och|men|et|mais|y|pero|bitte|snälla)\W+){0,4}"
    r"(?:what|who|whom|whose|where|when|why|which|how|is|are|am|was|were|do|does|did|can|could|may|might|will|would|shall|should|has|have|had|isn|aren"
    r"|doesn|don|didn|can't|any(?:one|body|way)?|tell|explain|show|describe|list|name|give|help|define|compare|find|need|looking for|i need|i want to"
    r"|i would like|i'd like|is there|wondering|how to"
    r"|was|wer|wem|wen|wo|wann|warum|wieso|welche[rsnm]?|wie|kann|können|darf|gibt|ist|sind|hat|haben|muss|erkläre?"
    r"|vad|vem|var|när|varför|vilken|vilket|vilka|hur|kan|finns|är|har|får|måste|ska|förklara|berätta"
    r"|que|quoi|qui|où|quand|pourquoi|comment|quel(?:le)?s?|combien|est-ce|peut|puis-je|y a-t-il|explique[rz]?"
    r"|qué|quién|dónde|cuándo|por qué|cómo|cuál(?:es)?|cuánt[oa]s?|puedo|puede|hay|explica)\b",
    re.IGNORECASE,
)
_CJK_QUESTION = re.compile(
    r"[吗呢]|什么|怎么|如何|为什么|為什麼|哪|谁|誰|几|多少|是否|请问|請問|か[。？?！\s]*$|ですか|ますか|教えて|どう|なぜ|何|どこ|いつ|いくら"
    r"|어떻|무엇|왜|어디|언제|누구|나요|까요"
)
_PROBLEM_REPORT = re.compile(
    r"\b(?:errors?|fail(?:s|ed|ing|ure)?|cannot|can't|cant|couldn't|won't|doesn't|doesnt|does not|isn't|not (?:working|found|start|load|connect)\w*"
    r"|stuck|broken|breaks|crash(?:es|ed|ing)?|problem|trouble|issue|bug|denied|missing|timed? ?out|hangs?|freez\w*"
    r"|(?!i\b|we\b|you\b|they\b|people\b)\w+ (?:do|did|are|was|were|has|have)(?:n['’]?t| not)"
    r"|fehler|geht nicht|funktioniert nicht|kaputt|fel|fungerar inte|erreur|panne|ne (?:marche|fonctionne) pas|no funciona|fallo)\b",
    re.IGNORECASE,
)
_HELP_REQUEST = re.compile(r"(?:^|[,.!?;])\W*(?:please |pls |plz )?help\b", re.IGNORECASE)
_ASSENT = re.compile(
    r"^\W*(?:ok(?:ay)?|k|yes|yeah|yep|yup|no|nope|sure|perfect|excellent|brilliant|amazing|wonderful|alright|fine|good|right|true|understood|got it"
    r"|i see|makes sense|sorry|oops|my bad|wrong (?:channel|chat|window|room|thread)|hm+|ah+|oh+|ja|nein|nej|oui|non|sí|si|perfekt|super|klar)\b",
    re.IGNORECASE,
)
"""How an answer is taken: what follows such a word without asking is said for its own sake."""
_SMALL_TALK = re.compile(
    r"^\W*(?:(?:hi|hey|hello|hallo|hej|hola|salut|yo|sup|gm|gn|good (?:morning|evening|night|day)|guten (?:morgen|tag|abend))\b\W*(?:\w+\W*){0,3}$"
    r"|(?:hi|hey|hello|hallo|hej)?\W*(?:how(?:'s| is| are| r) (?:it going|you|u|everyone|everybody|things|life)|what(?:'s|s| is) (?:up|new)"
    r"|how do you do|(?:is )?(?:any(?:one|body)|somebody|someone) (?:here|there|around|alive|awake)|who are you|are you (?:a )?(?:bot|human|real)"
    r"|wie geht(?:'s| es)\b.*|hur mår du|ça va|qué tal)\b[\w\s]{0,25}\W*$)",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(?:thanks?|thank you|thx|ty|tysm|cheers|danke|tack|merci|gracias|lol|lmao|rofl|haha+|nice|great|awesome|cool|wow|congrats|congratulations"
    r"|welcome|agreed|same here|exactly|works now|worked|fixed it|solved|nevermind|never mind|good job|well done|love (?:it|this))\b",
    re.IGNORECASE,
)
_PRAISE = re.compile(r"\b(?:nice|great|awesome|cool|wow|welcome|agreed|exactly|solved)\b", re.IGNORECASE)
"""Of these, words that also stand in what people look for."""
_THANKS_IN_ADVANCE = re.compile(
    r"\W+(?:many )?(?:thanks?(?: you)?|thx|ty|cheers|danke|tack|merci|gracias)(?: in advance| a lot| so much| im voraus| på förhand)?\W*$",
    re.IGNORECASE,
)
"""Thanks for a help that is still to come."""
_INFORMATION_REQUEST = re.compile(
    r"\b(?:i (?:need|want|meant?|am asking|asked|would like|was asking|am (?:referring|looking))|i'm (?:asking|looking|referring|not sure|confused)"
    r"|i (?:don't|do not|didn't) (?:understand|know|get)|not sure|tell me|know (?:more|about|how|if)|wonder(?:ing)?|asking|more (?:info|details?)"
    r"|please"
    r"|ich (?:brauche|suche|möchte)|jag (?:behöver|vill|undrar)|je (?:voudrais|cherche)|necesito|quiero)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:i|i'm|i've|me|my|mine|we|we're|our|you|your|ich|wir|mein\w*|jag|vi|min|je|nous|mon|yo|nosotros)\b|!",
    re.IGNORECASE,
)


class GateReply(RoleReply):
    """Whether a reply should be prepared."""

    should_reply: bool
    reasoning: str = Field(default="", description="one short sentence")


def fallback(*, task: str, introduction: str, conversation: str, question: str, pictures: int) -> GateReply:
    """By the form of the messages nobody answered yet: one that asks is enough."""
    talking = re.search(r"^You:", conversation, re.MULTILINE) is not None
    said = [
        _judge_line(_shorten(line), talking=talking)
        for line in question.split("\n")[-MAX_LINES:]
        if line.strip()
    ]
    asking = next((reply for reply in said if reply.should_reply), None)
    nothing = GateReply(should_reply=False, reasoning="Nothing is said that could be answered.")
    return asking or (said[-1] if said else nothing)


def _shorten(line: str) -> str:
    """A line without its middle and without long runs of signs: nobody's message may take long to judge."""
    line = _PUNCTUATION_RUN.sub(lambda run: run[0][:4] + run[0][-4:], line)
    return line if len(line) <= 2 * MAX_END_CHARS else f"{line[:MAX_END_CHARS]} {line[-MAX_END_CHARS:]}"


def _judge_line(line: str, *, talking: bool) -> GateReply:
    """`talking`: the bot took part in this conversation, so that what is said now is most likely said to
    it."""
    if _SMALL_TALK.search(line):
        return _reject("It is small talk.")
    line = _THANKS_IN_ADVANCE.sub("", line)
    words = [word for word in tokenize(_THANKS.sub(" ", line)) if word not in STOPWORDS]
    form, thanks = (
        bool(_QUESTION_MARK.search(line) or _QUESTION_OPENING.search(line) or _CJK_QUESTION.search(line)),
        bool(_THANKS.search(line)),
    )
    if form and not words and not _is_short_follow_up(line):
        return _reject("It asks, but of nothing that could be looked up.")
    if form and (_QUESTION_MARK.search(line) or not thanks or len(words) > 1):
        return _accept("It has the form of a question or a request.")
    if _THANKS.search(_PRAISE.sub(" ", line)):
        return _reject("It tells something, but asks nothing.")
    if words and (
        _PROBLEM_REPORT.search(line)
        or _INFORMATION_REQUEST.search(line)
        or _HELP_REQUEST.search(line)
        or find_unmistakable_codes(line)
    ):
        return _accept("Somebody reports a trouble, or wants to know.")
    if _ASSENT.search(line):
        return _reject("It takes what was said, and asks nothing.")
    if words and talking:
        return _accept("It goes on with what was talked about.")
    if _PERSONAL.search(fold(line)):
        return _reject("It tells something, but asks nothing.")
    return (
        _accept("It reads like something that is looked for.")
        if len(words) >= MIN_QUERY_WORDS
        else _reject("It asks nothing.")
    )


def _accept(why: str) -> GateReply:
    return GateReply(should_reply=True, reasoning=why)


def _reject(why: str) -> GateReply:
    return GateReply(should_reply=False, reasoning=why)


def _is_short_follow_up(line: str) -> bool:
    """Is it a follow-up that points at something said before ("and when?", "why not?")?"""
    return bool(_QUESTION_MARK.search(line)) and 0 < len(tokenize(line)) <= 4


GATE = Role(name="gate", reply=GateReply, fallback=fallback, tier="fast")
