"""Words that make up spoken questions without naming anything: chatter, common verbs, qualities, and the
small words. Data only."""

from __future__ import annotations

CHATTER = frozenset(
    """yes yeah no nah not ok okay thanks thank hi hello hey fine good great nice cool awesome perfect sure sorry well please wow
    interesting hmm oh omg aha really agreed right let lets tell think know want need help guess hope sounds seems bit lot lots kind kinds sort
    type types example examples thing things something anything everything nothing someone anyone everyone one ones question questions answer
    way ways mention mentioned aforementioned mean means meant also option options difference differences similarity similarities reason reasons
    information info detail details more most much many others other another else instead besides there here now later again already always
    never still yet maybe perhaps probably actually general specific current first second third fourth fifth last two three four five part parts
    case fact point idea suggestion suggestions recommendation recommendations together somewhere ill while although
    though since unless whether however therefore besides cannot including""".split()
)

VERBS = frozenset(
    """work works help helps helped affect affects affected cost costs mean means compare compares compared differ differs happen happens happened
    happening use uses used using make makes made making get gets got take takes took taken give gives gave given go goes went gone come comes
    came become becomes became know knows known tell tells told show shows shown find finds found look looks looking want wants wanted need needs
    needed try tries tried trying keep keeps kept start starts started stop stops stopped begin begins began play plays played live lives lived
    eat eats buy buys bought sell sells sold choose chooses chosen consider considered recommend recommended suggest suggests suggested include
    includes included cause causes caused change changes changed improve improves improved reduce reduces reduced increase increases increased
    prevent prevents treat treats treated form formed build builds built create creates created creating die dies died kill kills killed win wins
    won lose loses lost lead leads led run runs ran own owns say says said see sees saw seen think thinks thought like likes liked talk talks
    talking talked speak speaks discuss provide provides provided occur occurs occurred exist exists grow grows grew grown growing produce
    produced produces perform performed appear appears appeared act acts serve serves pay pays paid last lasts learn learned learning write wrote
    written involve involved involves develop developed feel feels felt put hear heard call called add added apply applies open close weigh
    support supports supported doing being been having going getting taking saying seeing buying asking wondering planning reading experiencing
    considering moving based related located born done ensure allow allows remove removes turn turns follow follows return returns returned set
    sets check move moves moved manage access remain remains achieve handle handles ask asked asks avoid require requires required enjoy visit
    stay spend save send wear drink drinks cook prepare prepares receive receives received cover covers covered taught thrown worn driven held
    drawn broken hidden met beat fit hunt deal seem seem seems pass cancel update updates view install use order repair replace repaired""".split()
)
"""Forms of common verbs; most can be nouns too and then stand behind an article."""

ADJECTIVES = frozenset(
    """good better best bad worse worst long longer old older oldest new newer newest big bigger biggest large larger largest high higher highest
    low lower lowest tall fast faster main major important popular common different similar possible necessary famous such same own able likely
    available interested worried next few little small smaller smallest recent early late whole entire certain various several easy easier
    easiest hard harder cheap cheaper cheapest expensive effective serious safe typical special difficult useful young younger youngest closest
    dangerous unavoidable sexual suitable pregnant successful secure enough short longest shortest shorter fastest slow extreme""".split()
)

BIDDING = frozenset(
    "name list describe explain define compare summarize summarise discuss elaborate advise".split()
)
"""Verbs that a request begins with, most of which name something elsewhere."""

DETERMINERS = frozenset(
    "the a an this that these those my your our its their his her some any each every all both s".split()
)

PREPOSITIONS = frozenset(
    "of for in on at to from by with about between against into near around like per via after before during versus vs".split()
)

AUXILIARIES = frozenset(
    """is are was were be do does did can could will would should has have had may might must isn't aren't doesn't don't didn't wasn't what's
    isnt arent doesnt dont didnt wasnt whats won't can't couldn't shouldn't wouldn't""".split()
)

JOINS = frozenset("and or vs versus & und och et y".split())

RELATIONS = frozenset(
    """symptom symptoms cause causes benefit benefits effect effects advantage advantages disadvantage disadvantages risk risks example examples type
    types kind kinds use uses part parts layer layers definition impact history pros cons price prices cost costs fee fees requirement requirements
    period significance importance role purpose goal goals feature features rule rules law laws step steps process sign signs treatment treatments
    alternative alternatives criticism characteristics winner coach director author capital population size age weight length height speed
    ingredients side version versions name names origin method methods reason reasons problem problems limit limits maximum minimum equipment
    deadline deposit deposits members needed required""".split()
)
"""Words that are about something else which has to be said: symptoms are always of an illness."""

GIVEN_FOR = frozenset(
    """cost costs fee fees price prices requirement requirements rule rules law laws limit limits alternative alternatives deadline
    deposit deposits needed required""".split()
)
"""Those of them that are for something rather than of it."""
