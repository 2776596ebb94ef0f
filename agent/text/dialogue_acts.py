"""Dialogue acts of a message: thanks and greetings that ask nothing, and the form of a question. By regular
expressions in several languages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from agent.types import Turn

SmallTalk = Literal["", "thanks", "assent", "greeting"]
_SMALL_TALK_REPLIES: dict[SmallTalk, str] = {
    "": "",
    "thanks": "You are welcome. What else would you like to know?",
    "assent": "All right. What else would you like to know?",
    "greeting": "Hello! What would you like to know?",
}
_THANKS = re.compile(
    r"(?<!\w)(?:thank(?:s| you)|thx|ty|cheers|danke(?: schön)?|vielen dank|tack(?: så mycket)?"
    r"|merci(?: beaucoup)?|(?:muchas )?gracias"
    r"|谢谢[你您]?|多谢|ありがとう(?:ございます)?|감사합니다)(?!\w)",
    re.IGNORECASE,
)
_ASSENT = re.compile(
    r"(?<!\w)(?:ok(?:ay)?|alright|all right|great|good|nice|perfect|super|cool|wonderful|excellent|awesome"
    r"|fine|got it|i see|understood"
    r"|that(?:'s| is| was) (?:all|it|great|good|helpful|clear|perfect|fine)|(?:that "
    r"|it )?(?:really )?help(?:s|ed)"
    r"|(?:bye|goodbye|good bye|see you))(?!\w)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"(?<!\w)(?:hi|hey|hello|hallo|hej|hola|salut|bonjour|yo|good (?:morning|afternoon|evening|day)"
    r"|guten (?:morgen|tag|abend)"
    r"|god (?:morgon|kväll|dag)"
    r"|how are you(?: doing)?(?: today)?|what(?:'s| is) up|how(?:'s| is) it going|wie geht(?:'s| es)?(?: dir"
    r"| ihnen)?"
    r"|hur mår du|ça va|qué tal)(?!\w)",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\b(?:so|very|much|a lot|lots?|really|again|indeed|then|now|to you|too|for (?:the|your|that|this"
    r"|all(?: the| your)?)"
    r"|help|answer|info(?:rmation)?|there|everyone|all|friend|and|you|for|well|oh|ah|yes|no|just|me|today)\b",
    re.IGNORECASE,
)
_QUESTION_OPENING = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|well|also|then|now|please|thanks|great|good|nice|hi|hello|hey|hej|hallo"
    r"|und|aber|och|men|et|mais|y|pero)\W+){0,3}"
    r"(?:what|who|whom|whose|where|when|why|which|how|is|are|was|were|do|does|did|can|could|may|will|would"
    r"|shall|should|has|have|had"
    r"|tell|explain|show|describe|list|name|give|compare|find"
    r"|wer|wem|wen|wo|wann|warum|wieso|welche[rsnm]?|wie|kann|können|gibt|ist|sind|hat|haben|erkläre?|zeige?"
    r"|vad|vem|var|när|varför|vilken|vilket|vilka|hur|kan|finns|är|har|får|förklara|berätta|visa"
    r"|que|quoi|qui|où|quand|pourquoi|comment|quel(?:le)?s?|combien|est-ce|peut|y a-t-il"
    r"|qué|quién|dónde|cuándo|cómo|cuál(?:es)?|cuánt[oa]s?|puede|hay)\b",
    re.IGNORECASE,
)
_REPEAT_REQUEST = re.compile(
    r"\b(?:again|repeat|summari[sz]e|sum up|in short|in other words|shorter|simpler"
    r"|you (?:just )?(?:said|say|told|mentioned)|your (?:last )?answer)\b",
    re.IGNORECASE,
)
_QUESTION_MARK = re.compile(r"[?？؟]")


def classify_small_talk(text: str) -> SmallTalk:
    """Is it only thanks, a word of approval or farewell, or a greeting? "" when it says anything else."""
    ungreeted = _GREETING.sub(" ", text)
    unthanked = _THANKS.sub(" ", ungreeted)
    rest = _ASSENT.sub(" ", unthanked)
    if re.search(r"\w", _FILLER.sub(" ", rest)):
        return ""
    return (
        "thanks"
        if unthanked != ungreeted
        else "assent"
        if rest != unthanked
        else "greeting"
        if ungreeted != text
        else ""
    )


def reply_to_small_talk(text: str) -> str:
    """The reply to small talk; "" when it is none."""
    return _SMALL_TALK_REPLIES[classify_small_talk(text)]


def has_question_opening(text: str) -> bool:
    """Does it begin as a question or a request does?"""
    return bool(_QUESTION_OPENING.search(text))


def is_question(text: str) -> bool:
    """Has it the form of a question or a request?"""
    return bool(_QUESTION_MARK.search(text)) or has_question_opening(text)


def blank_unanswered_replies(turns: Sequence[Turn]) -> list[Turn]:
    """The turns as something can be taken from them: what asked back, or told why there is no answer, is not
    about the matter."""
    return [turn if turn.answered else turn.model_copy(update={"bot": ""}) for turn in turns]


def is_repeat_request(text: str) -> bool:
    """Does it ask for the previous answer once more, perhaps shorter?"""
    return bool(_REPEAT_REQUEST.search(text))
